/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Replays inputs through a fuzz target without any fuzzer: files, and the files of folders one
 * level deep. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        fprintf(stderr, "cannot open %s\n", path);
        return -1;
    }
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    int bad = data == NULL || size < 0 || fread(data, 1, (size_t)size, f) != (size_t)size;
    fclose(f);
    if (!bad) {
        printf("%s\n", path); /* the last line names the input that crashed */
        fflush(stdout);
        LLVMFuzzerTestOneInput(data, (size_t)size);
    }
    free(data);
    return bad ? -1 : 1;
}

static int run_folder(const char *path)
{
    DIR *folder = opendir(path);
    int count = 0;
    if (folder == NULL) {
        return -1;
    }
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char name[4096];
        if (entry->d_name[0] != '.' &&
            snprintf(name, sizeof name, "%s/%s", path, entry->d_name) < (int)sizeof name) {
            int ran = run_file(name);
            if (ran < 0) {
                count = -1;
                break;
            }
            count += ran;
        }
    }
    closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++) {
        struct stat what;
        int ran = stat(argv[i], &what) != 0 ? -1
                  : S_ISDIR(what.st_mode)   ? run_folder(argv[i])
                                            : run_file(argv[i]);
        if (ran < 0) {
            return 1;
        }
        count += ran;
    }
    printf("%d inputs\n", count);
    return count > 0 ? 0 : 1;
}

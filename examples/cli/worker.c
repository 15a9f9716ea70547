/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* `ckptdispatch worker`: solves for another process, see ckpd_solve_options_set_worker(). */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

/* Whoever asked may be gone while a solver is deep in its work: then so is this process. */
static void *watch(void *argument)
{
    struct pollfd peer = {.fd = STDIN_FILENO};
    (void)argument;
    while (poll(&peer, 1, -1) < 1 || (peer.revents & (POLLHUP | POLLERR | POLLNVAL)) == 0) {
    }
    _exit(CLI_OK);
}

int cli_worker(void)
{
    ckpd_context *context = NULL;
    pthread_t thread;
    if (ckpd_context_new(&context, NULL) != CKPD_OK) {
        return CLI_INTERNAL;
    }
    bool watched = pthread_create(&thread, NULL, watch, NULL) == 0;
    int32_t status = ckpd_worker_serve(context, STDIN_FILENO);
    if (status != CKPD_OK) {
        fprintf(stderr, "ckptdispatch: %s\n", ckpd_context_last_message(context));
    }
    if (watched) {
        pthread_detach(thread); /* it ends with the process */
    }
    ckpd_context_free(context);
    return status == CKPD_OK ? CLI_OK : CLI_BAD_INPUT;
}

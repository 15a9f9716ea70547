/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* ckptdispatch: day-ahead dispatch of LLM training on the command line. One file a command in cli/.
 */
#define _POSIX_C_SOURCE 200809L
#include "cli/cli.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cli_command COMMANDS[] = {
    {"solve", "CASE", "solve one scenario and print the plan", cli_solve_command},
    {"scenarios", "CASE", "solve S1 to S6 and compare", cli_scenarios},
    {"sweep", "CASE", "solve over checkpoint segments or GPU capacities", cli_sweep},
    {"diagnose", "CASE", "say which limits would have to move for a plan to exist", cli_diagnose},
    {"explain", "CASE", "say why a plan costs what it costs, and what it leaves", cli_explain},
    {"modes", "CASE", "list the modes each job can run in, and why others cannot", cli_modes},
    {"verify", "CASE PLAN", "check a plan file against its case", cli_verify},
    {"report", "CASE", "solve all scenarios and write one HTML page", cli_report},
    {"compare", "A B", "two plan files side by side", cli_compare},
    {"export", "CASE", "write the model for another solver", cli_export},
    {"import-solution", "CASE FILE", "read another solver's answer, check it, make it a plan",
     cli_import},
    {"describe", "[OBJECT|CASE]", "explain the case format, or sum up a case", cli_describe},
    {"shape", "CASE", "fill checkpoint dips with inference work and simulate the microgrid",
     cli_shape},
    {"version", "", "print versions and solvers", cli_version},
};
enum { COMMAND_COUNT = sizeof COMMANDS / sizeof COMMANDS[0] };

/* The token that Ctrl-C requests; the library itself never touches signals. */
static ckpd_cancel *interrupted;

static void on_interrupt(int number)
{
    (void)number;
    ckpd_cancel_request(interrupted);
}

static void print_help(FILE *out)
{
    fputs("Usage: ckptdispatch COMMAND ARGUMENTS [--json]\n\n", out);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s %s", COMMANDS[i].name, COMMANDS[i].arguments);
        fprintf(out, "  %-28s %s\n", left, COMMANDS[i].help);
    }
    fputs("\n`ckptdispatch COMMAND --help` lists the options of a command.\n"
          "Exit status: 0 solved, 1 infeasible or nothing found, 2 bad input, 3 internal error.\n",
          out);
}

static const cli_command *find_command(const char *name)
{
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(COMMANDS[i].name, name) == 0) {
            return &COMMANDS[i];
        }
    }
    return NULL;
}

static void on_log(int32_t level, int32_t code, const char *message, void *user)
{
    cli *tool = user;
    (void)code;
    if (level == CKPD_LOG_WARNING) {
        cli_clear_progress(tool);
        fprintf(stderr, "ckptdispatch: warning: %s\n", message);
        if (tool->warning_count < (int)(sizeof tool->warnings / sizeof tool->warnings[0])) {
            snprintf(tool->warnings[tool->warning_count], sizeof tool->warnings[0], "%s", message);
        }
        tool->warning_count++;
    }
}

static int run(const cli_command *command, int count, char **words)
{
    cli tool = {.command = command->name, .progress = isatty(STDERR_FILENO) == 1};
    if (ckpd_context_new(&tool.context, NULL) != CKPD_OK ||
        ckpd_cancel_new(&tool.cancel, tool.context) != CKPD_OK) {
        fputs("ckptdispatch: out of memory\n", stderr);
        ckpd_context_free(tool.context);
        return CLI_INTERNAL;
    }
    ckpd_context_set_log(tool.context, CKPD_LOG_WARNING, on_log, &tool);
    interrupted = tool.cancel;
    /* A second Ctrl-C ends the program at once. */
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    int status = command->run(&tool, count, words);
    action.sa_handler = SIG_DFL;
    sigaction(SIGINT, &action, NULL);
    ckpd_cancel_free(tool.cancel);
    ckpd_context_free(tool.context);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("ckptdispatch: cannot write the output\n", stderr);
        return CLI_BAD_INPUT;
    }
    return status;
}

int main(int count, char **words)
{
    if (ckpd_abi_version() != CKPD_ABI_VERSION) {
        fputs("ckptdispatch: the library found is of another ABI version\n", stderr);
        return CLI_INTERNAL;
    }
    if (count < 2) {
        print_help(stderr);
        return CLI_BAD_INPUT;
    }
    if (strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0 ||
        strcmp(words[1], "help") == 0) {
        print_help(stdout);
        return CLI_OK;
    }
    if (count == 2 && strcmp(words[1], "worker") == 0) {
        return cli_worker();
    }
    const cli_command *command =
        find_command(strcmp(words[1], "--version") == 0 ? "version" : words[1]);
    if (command == NULL) {
        fprintf(stderr, "ckptdispatch: unknown command '%s'; `ckptdispatch --help` lists them\n",
                words[1]);
        return CLI_BAD_INPUT;
    }
    return run(command, count - 2, words + 2);
}

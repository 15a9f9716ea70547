/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Names of the GPU presets, in one place: the task's reference_gpu and the presets of modes use it.
 */
#ifndef CKPD_LIB_TASK_GPUS_H
#define CKPD_LIB_TASK_GPUS_H

#define CKPD__GPU_A100_40GB "a100-40gb"
#define CKPD__GPU_A100_80GB "a100-80gb"
#define CKPD__GPU_H100 "h100-80gb"
#define CKPD__GPU_H200 "h200-141gb"
#define CKPD__GPU_B200 "b200-180gb"
#define CKPD__GPU_MI300X "mi300x-192gb"

#define CKPD__GPU_CHOICES                                                             \
    CKPD__GPU_A100_40GB "|" CKPD__GPU_A100_80GB "|" CKPD__GPU_H100 "|" CKPD__GPU_H200 \
                        "|" CKPD__GPU_B200 "|" CKPD__GPU_MI300X

#endif

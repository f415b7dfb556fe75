// SPDX-License-Identifier: GPL-2.0-only
/*
 * Machines for `kipt info`: linked around CPUID and the connection to the module
 * (--wrap). FAKE_PT set: the CPU has PT. FAKE_MODULE: the module is loaded, and says
 * what it tells those who may trace ("all") or others ("few"); "none": it is loaded,
 * and no CPU has PT. Whatever is not set is as it is here.
 */
#include <stdlib.h>
#include <string.h>

#include "../../kmod/hw/rtit_regs.h"
#include "../../tools/kipt/cli/kipt.h"
#include "../../tools/kipt/kernel/capabilities.h"
#include "../../tools/kipt/kernel/cpuid.h"
#include "../../tools/kipt/kernel/genl.h"

bool __wrap_hardware_has_pt(void);
void __wrap_hardware_caps(struct kipt_caps *caps);
struct genl *__wrap_genl_open(bool quiet);
struct genl *__real_genl_open(bool quiet);
int __wrap_genl_info(struct genl *genl, struct kipt_info *info);
void __wrap_genl_close(struct genl *genl);
void __real_genl_close(struct genl *genl);

/* Stands for a connection; nothing is read from it. */
static char connection;

bool __wrap_hardware_has_pt(void)
{
	return getenv("FAKE_PT");
}

/* Of a Skylake. */
void __wrap_hardware_caps(struct kipt_caps *caps)
{
	memset(caps, 0, sizeof(*caps));
	caps->leaf0_eax = 1;
	caps->leaf0_ebx = 0xf;
	caps->leaf0_ecx = RTIT_CAP_TOPA | RTIT_CAP_TOPA_MULTI;
	caps->leaf1_eax = 0x02490002;
	caps->leaf1_ebx = 0x003f3fff;
	caps_settle(caps);
}

struct genl *__wrap_genl_open(bool quiet)
{
	return getenv("FAKE_MODULE") ? (struct genl *)&connection :
				       __real_genl_open(quiet);
}

int __wrap_genl_info(struct genl *genl, struct kipt_info *info)
{
	const char *module = getenv("FAKE_MODULE");

	(void)genl;
	memset(info, 0, sizeof(*info));
	strcpy(info->version, "fake");
	info->abi = KIPT_ABI;
	info->record_version = KIPT_RECORD_VERSION;
	info->told_use = strcmp(module, "few");
	if (!strcmp(module, "none"))
		return 0;
	__wrap_hardware_caps(&info->kind[0]);
	info->kind_count = 1;
	info->caps = info->kind[0];
	strcpy(info->online, "0-1");
	return 0;
}

void __wrap_genl_close(struct genl *genl)
{
	if (genl != (struct genl *)&connection)
		__real_genl_close(genl);
}

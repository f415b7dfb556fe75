/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The version of module and tool: what modinfo, get-info and kipt --version
 * show. It includes nothing, so that user space can have it.
 */
#ifndef KIPT_VERSION_H
#define KIPT_VERSION_H

#define KIPT_VERSION	"0.2.0"

#endif /* KIPT_VERSION_H */

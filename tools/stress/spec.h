/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The netlink specification as tables: which commands there are, which
 * attributes each takes, and what their values may be. spec_tables.c is made
 * by make_spec from uapi/kipt.yaml at build time. Read only.
 */
#ifndef KIPT_STRESS_SPEC_H
#define KIPT_STRESS_SPEC_H

#include <stdbool.h>
#include <stdint.h>

enum spec_type {
	SPEC_U32,
	SPEC_U64,
	SPEC_STRING,
	SPEC_BINARY,
	SPEC_FLAG,
	SPEC_NEST,
	SPEC_PAD,
};

/**
 * struct spec_attr - an attribute of a set
 * @name: as the specification has it
 * @number: its number in the set
 * @type: what its payload is
 * @min: smallest number, or fewest bytes of a string or of binary data
 * @max: biggest number, or most bytes; of flags, all of them
 * @flags: it is a mask of flags
 * @multi: it may come several times
 * @nest: SPEC_NEST only: number of the set inside, from 0 in spec_sets
 */
struct spec_attr {
	const char *name;
	uint16_t number;
	enum spec_type type;
	uint64_t min;
	uint64_t max;
	bool flags;
	bool multi;
	unsigned int nest;
};

/**
 * struct spec_set - a set of attributes
 * @name: as the specification has it
 * @attrs: @count of them, in the order of their numbers
 */
struct spec_set {
	const char *name;
	const struct spec_attr *attrs;
	unsigned int count;
};

/**
 * struct spec_request - what a command may be asked with
 * @exists: the command can be asked like this
 * @attrs: numbers of @count attributes of its set
 */
struct spec_request {
	bool exists;
	const uint16_t *attrs;
	unsigned int count;
};

/**
 * struct spec_command - a command that user space may send
 * @name: as the specification has it
 * @number: its number
 * @set: number of its set of attributes, from 0 in spec_sets
 * @doit: as a plain request
 * @dump: as a dump
 */
struct spec_command {
	const char *name;
	uint8_t number;
	unsigned int set;
	struct spec_request doit;
	struct spec_request dump;
};

extern const struct spec_set spec_sets[];
extern const unsigned int spec_set_count;
extern const struct spec_command spec_commands[];
extern const unsigned int spec_command_count;

#endif /* KIPT_STRESS_SPEC_H */

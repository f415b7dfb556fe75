/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of C++ and Rust as their source has them.
 */
#ifndef KIPT_DEMANGLE_H
#define KIPT_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * demangle() - a name as the source has it
 * @name: of a symbol, which may end with "@plt"
 * @text: receives it, without parameters of functions
 * @size: its bytes
 *
 * Return: true, or false if @name is no name of C++ or Rust, or there is no room
 * for all of it, or kipt was built without libiberty: @name is what there is.
 */
bool demangle(const char *name, char *text, size_t size);

#endif /* KIPT_DEMANGLE_H */

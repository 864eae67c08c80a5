/** A policy from a file: its routes, its checks, and its reload while the application runs. */
@NullMarked
package io.fairgate.spring.policyfile;

import org.jspecify.annotations.NullMarked;

/** Random steps of a scheduler, naive models that it must agree with, and rules that hold after each step. */
@NullMarked
package io.fairgate.fairness.model;

import org.jspecify.annotations.NullMarked;

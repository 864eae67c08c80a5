@org.jspecify.annotations.NullMarked
package io.fairgate.config;

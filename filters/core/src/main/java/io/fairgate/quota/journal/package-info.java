/**
 * What survives a restart: the usage of calendar quotas and totals, in a file that
 * {@link io.fairgate.quota.journal.UsageJournal} writes ahead of the grants.
 */
@NullMarked
package io.fairgate.quota.journal;

import org.jspecify.annotations.NullMarked;

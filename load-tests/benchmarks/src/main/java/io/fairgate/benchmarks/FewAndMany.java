package io.fairgate.benchmarks;

/**
 * The nanoseconds of one operation in one round.
 *
 * @param few with few configured members
 * @param many with many
 */
public record FewAndMany(double few, double many) {

    double ratio() {
        return many / few;
    }
}

package io.fairgate.quota.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.Quota;
import io.fairgate.quota.Quota.CalendarUnit;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.journal.Deaf;
import io.fairgate.quota.journal.TestDisk;
import io.fairgate.quota.journal.UsageJournal;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.TemporalAdjusters;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.test.scheduler.VirtualTimeScheduler;

/**
 * The promises of docs/quotas.md, checked against separate records, while the wall clock jumps by hours and the process ends
 * and crashes at random; a failure names its seed.
 *
 * <p>Calendar quotas and totals: at most the limit is charged to a window, and the window is the latest that the clock has
 * reached. With a journal this holds over every end of the process, and each crash loses at most a chunk; without a journal it
 * holds for each process. Rates and sliding windows: the promise holds in each process, with any wall clock.
 */
class QuotaBoundsTest {
    private static final int SEEDS = Integer.getInteger("fairgate.seeds", 50);
    private static final int STEPS = 150;
    private static final Duration LONGEST = Duration.ofSeconds(20);
    private static final List<CalendarUnit> UNITS = List.of(CalendarUnit.values());
    private static final List<ZoneId> ZONES =
            List.of(ZoneOffset.UTC, ZoneId.of("Europe/Berlin"), ZoneId.of("Asia/Kathmandu"));

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void no_quota_admits_too_much_while_the_wall_clock_jumps(boolean isKept) {
        for (int seed = 0; seed < SEEDS; seed++) {
            new Run(seed, isKept).run();
        }
    }

    private record Open(QuotaCharge charge, long window, int number) {}

    /** One quota in several processes, one after another. */
    private static final class Run {
        private final long seed;
        private final Random random;
        private final boolean isKept;
        private final Quota quota;
        private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
        /** Begins a few hours before the end of a month, the end of a week, or a clock change in Berlin. */
        private Instant wall;

        private TestDisk disk = new TestDisk();
        private @Nullable UsageJournal journal;
        private EmbeddedQuotas quotas;
        private List<Open> open = new ArrayList<>();

        // The test's own records.
        private long window = Long.MIN_VALUE;
        private long charged;
        private long lost;
        private List<long[]> admitted = new ArrayList<>();

        Run(long seed, boolean isKept) {
            this.seed = seed;
            this.isKept = isKept;
            random = new Random(seed);
            quota = anyQuota();
            List<String> begins = List.of("2026-02-28T20:00:00Z", "2026-03-15T20:00:00Z", "2026-03-28T20:00:00Z");
            wall = Instant.parse(begins.get(random.nextInt(begins.size())));
            quotas = start();
        }

        private Quota anyQuota() {
            long limit = 1L + random.nextInt(random.nextBoolean() ? 20 : 2000);
            ZoneId zone = ZONES.get(random.nextInt(ZONES.size()));
            return switch (random.nextInt(7)) {
                case 0 -> new Quota.Total("any", limit);
                case 1 -> new Quota.Rate("any", limit, Duration.ofHours(1), 1L + random.nextInt(2000));
                case 2 -> new Quota.Sliding("any", limit, Duration.ofHours(3));
                default -> {
                    CalendarUnit unit = UNITS.get(random.nextInt(UNITS.size()));
                    // Hours are easy to number in a zone without clock changes.
                    yield new Quota.Calendar("any", limit, unit, unit == CalendarUnit.HOUR ? ZoneOffset.UTC : zone);
                }
            };
        }

        private EmbeddedQuotas start() {
            journal = isKept ? new UsageJournal(disk, time, new Deaf()) : null;
            return new EmbeddedQuotas(time, () -> wall, journal);
        }

        void run() {
            for (int step = 0; step < STEPS; step++) {
                String what = "seed %d, step %d: %s at %s".formatted(seed, step, quota, wall);
                switch (random.nextInt(12)) {
                    case 0 -> wall = wall.plus(Duration.ofHours(random.nextBoolean() ? 1 : -1));
                    case 1 -> pass(Duration.ofMinutes(random.nextInt(400)));
                    case 2 -> end(random.nextBoolean());
                    case 3, 4 -> settle();
                    default -> charge(what);
                }
                pass(Duration.ofSeconds(random.nextInt(300)));
            }
            end(false);
        }

        private void pass(Duration elapsed) {
            time.advanceTimeBy(elapsed);
            wall = wall.plus(elapsed);
        }

        private void end(boolean isCrash) {
            UsageJournal last = journal;
            if (last == null) {
                window = Long.MIN_VALUE;
                charged = 0;
            } else {
                TestDisk found = disk.crash();
                if (isCrash) {
                    disk = found;
                    lost += Math.max(1, quota.limit() / 100);
                } else {
                    quotas.writeExactly();
                }
                last.close();
            }
            open = new ArrayList<>();
            admitted = new ArrayList<>();
            quotas = start();
        }

        private void charge(String what) {
            long units = anyUnits();
            QuotaCharge charge = quotas.newCharge(QuotaSet.of(VirtualQuotas.ACME, quota), units);
            boolean passes =
                    Objects.requireNonNull(charge.charge().block(LONGEST)).allowed();
            long current = windowNow();
            long before = current > window ? 0 : charged;
            if (quota instanceof Quota.Rate rate) {
                assertThat(passes).as(what).isEqualTo(units <= remaining(rate));
            } else if (quota instanceof Quota.Sliding sliding) {
                assertSliding(sliding, units, passes, what);
            } else if (passes) {
                assertThat(before + units).as(what).isLessThanOrEqualTo(quota.limit());
            } else {
                assertThat(before + lost + units).as("refused, " + what).isGreaterThan(quota.limit());
            }
            if (passes) {
                reach(current);
                charged += units;
                open.add(new Open(charge, window, admitted.size()));
                admitted.add(new long[] {time.now(TimeUnit.NANOSECONDS), units});
            }
            awaitWritten();
        }

        /** Sometimes near the remaining units: one too many, or exactly all. */
        private long anyUnits() {
            return switch (random.nextInt(6)) {
                case 0, 1 -> Math.max(1, left() + random.nextInt(3) - 1);
                case 2 -> 1 + random.nextLong(quota.limit() + 1);
                default -> 1 + random.nextLong(1 + quota.limit() / 10);
            };
        }

        private long left() {
            QuotaSet set = QuotaSet.of(VirtualQuotas.ACME, quota);
            return Objects.requireNonNull(quotas.balances(set).block(LONGEST))
                    .get(0)
                    .remaining();
        }

        private long remaining(Quota.Rate rate) {
            SlidingLog log = new SlidingLog(rate);
            admitted.forEach(each -> log.admit(each[0], each[1]));
            return log.remaining(time.now(TimeUnit.NANOSECONDS));
        }

        private void assertSliding(Quota.Sliding sliding, long units, boolean passes, String what) {
            if (passes) {
                assertThat(used(sliding.within()) + units).as(what).isLessThanOrEqualTo(sliding.limit());
            } else {
                assertThat(used(sliding.within().plus(sliding.within().dividedBy(SlidingUsage.PARTS))) + units)
                        .as("refused, " + what)
                        .isGreaterThan(sliding.limit());
            }
        }

        private long used(Duration lately) {
            long now = time.now(TimeUnit.NANOSECONDS);
            return admitted.stream()
                    .filter(each -> each[0] > now - lately.toNanos())
                    .mapToLong(each -> each[1])
                    .sum();
        }

        /** Not for rates, whose settlements have their own oracle. */
        private void settle() {
            if (open.isEmpty() || quota instanceof Quota.Rate) {
                return;
            }
            Open settled = open.remove(random.nextInt(open.size()));
            if (random.nextInt(3) == 0) {
                owe(settled);
            } else {
                giveBack(settled);
            }
            awaitWritten();
        }

        /** Gives a part of a charge back. */
        private void giveBack(Open settled) {
            long actual = random.nextLong(settled.charge.units() + 1);
            settled.charge.settle(actual).block(LONGEST);
            if (windowNow() == settled.window) {
                charged -= settled.charge.units() - actual;
            }
            if (quota instanceof Quota.Sliding) {
                admitted.get(settled.number)[1] = actual;
            }
        }

        /** Charges more than before, to any window; for a sliding window at most the remaining units, so without a debt. */
        private void owe(Open settled) {
            long limit = quota.limit();
            long more = quota instanceof Quota.Sliding ? random.nextLong(left() + 1) : random.nextLong(3 * limit);
            settled.charge.settle(settled.charge.units() + more).block(LONGEST);
            if (more > 0) {
                reach(windowNow());
                charged = Math.max(charged, Math.min(2 * limit, charged + more));
                admitted.add(new long[] {time.now(TimeUnit.NANOSECONDS), more});
            }
        }

        private void reach(long current) {
            if (current > window) {
                lost = 0;
                charged = 0;
                window = current;
            }
        }

        /** Makes a run with the same seed exactly the same. */
        private void awaitWritten() {
            if (journal != null) {
                journal.written().block(LONGEST);
            }
        }

        /** The number of the latest window that the clock has reached; a total has only one window. */
        private long windowNow() {
            if (!(quota instanceof Quota.Calendar calendar)) {
                return 0;
            }
            LocalDate date = wall.atZone(calendar.zone()).toLocalDate();
            long now = switch (calendar.per()) {
                case HOUR -> Math.floorDiv(wall.getEpochSecond(), 3600);
                case DAY -> date.toEpochDay();
                case WEEK ->
                    date.with(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY))
                            .toEpochDay();
                case MONTH -> date.getYear() * 12L + date.getMonthValue();
            };
            return Math.max(now, window);
        }
    }
}

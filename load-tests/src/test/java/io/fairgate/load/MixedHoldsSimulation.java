package io.fairgate.load;

import static io.gatling.javaapi.core.CoreDsl.atOnceUsers;
import static io.gatling.javaapi.core.CoreDsl.bodyString;
import static io.gatling.javaapi.core.CoreDsl.details;
import static io.gatling.javaapi.core.CoreDsl.dummy;
import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.pause;
import static io.gatling.javaapi.core.CoreDsl.responseTimeInMillis;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.gatling.javaapi.http.HttpDsl.status;

import io.fairgate.load.MixedHoldsSettings.Side;
import io.gatling.javaapi.core.Assertion;
import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.PopulationBuilder;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.core.Simulation;
import io.gatling.javaapi.http.HttpRequestActionBuilder;
import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Does a tenant with requests of seconds get exactly its share beside a tenant with requests of milliseconds?
 *
 * <p>Both run at once, each as a closed loop, to an upstream that this simulation contains. Both are always backlogged. After a
 * warm-up, the permit-time of both is read from the gateway's meters, at the beginning and at the end of the measured time. The
 * build fails unless no request fails and the tenant with short requests had {@code shortWeight / longWeight} times the
 * permit-time of the other, within a fifth.
 *
 * <pre>
 * java -jar gateway/target/fairgate.jar serve --config config/examples/batch.yml
 * mvn -pl load-tests gatling:test -Dgatling.simulationClass=io.fairgate.load.MixedHoldsSimulation
 * </pre>
 *
 * <table>
 * <caption>Parameters, each as -Dname=value</caption>
 * <tr><td>gateway, management</td><td>http://localhost:8080, :8081</td><td>its ports</td></tr>
 * <tr><td>upstreamPort</td><td>9000</td><td>the port of the simulation's upstream, to which the route leads</td></tr>
 * <tr><td>pool, path</td><td>orders, /orders/</td><td>the pool, and a route that takes its permits</td></tr>
 * <tr><td>longTenant, longUsers, longWeight, longMillis</td><td>batch, 5, 1, 3000</td><td>the tenant with long requests</td></tr>
 * <tr><td>shortTenant, shortUsers, shortWeight, shortMillis</td><td>api, 60, 3, 20</td><td>the other</td></tr>
 * <tr><td>seconds</td><td>60</td><td>length of the measured time</td></tr>
 * <tr><td>warmUpSeconds</td><td>15</td><td>length of the warm-up</td></tr>
 * <tr><td>allowRemote</td><td>false</td><td>true: the gateway may be another machine than this one</td></tr>
 * </table>
 *
 * <p>Each tenant needs more users than its share of the permits (2.5 and 7.5 here), so that some of its requests always wait.
 * And an answer must come within the 10 s of {@code gatling.conf}: an answer to the long tenant takes
 * {@code longUsers / share * longMillis}, which is 6 s. The report is written below {@code load-tests/target/gatling}, also if
 * the run fails.
 */
public final class MixedHoldsSimulation extends Simulation {

    private static final String LONG = "long request";
    private static final String SHORT = "short request";
    private static final String METERS = "meters";
    private static final String MILLIS = "millis=";

    /** The largest relative distance from the ratio of the weights. */
    private static final double TOLERANCE = 0.2;

    private static final Duration PAUSE_AFTER_FAILURE = Duration.ofMillis(100);

    /** Keeps all users at work until the meters are read for the last time. */
    private static final Duration AFTERWARDS = Duration.ofSeconds(2);

    private final MixedHoldsSettings settings = MixedHoldsSettings.from(new Parameters(System::getProperty));
    private final Measurements measurements = new Measurements(LONG, SHORT);
    private final AtomicReference<@Nullable MetersPage> first = new AtomicReference<>();
    private final AtomicReference<@Nullable MetersPage> last = new AtomicReference<>();
    private final String verdict = "permit-time of %s to %s: wanted %.2f, within a fifth"
            .formatted(settings.shortHolds().tenant(), settings.longHolds().tenant(), wanted());

    private @Nullable SlowUpstream upstream;

    public MixedHoldsSimulation() {
        setUp(
                        users(LONG, settings.longHolds()),
                        users(SHORT, settings.shortHolds()).andThen(judgement()),
                        meters())
                .protocols(http.baseUrl(settings.ports().gateway().toString())
                        .disableFollowRedirect()
                        .disableCaching()
                        .userAgentHeader("fairgate-load-tests"))
                .assertions(noFailure(LONG), noFailure(SHORT), noFailure(verdict))
                .maxDuration(wholeRun().plusMinutes(2));
    }

    @Override
    public void before() {
        upstream = new SlowUpstream(settings.ports().upstream(), MixedHoldsSimulation::work);
        new GatewayProbe(settings.ports().gateway())
                .expectAnswer(path(settings.shortHolds()), settings.shortHolds().tenant());
        new GatewayProbe(settings.ports().management())
                .expectAnswer("/actuator/prometheus", settings.shortHolds().tenant());
    }

    @Override
    public void after() {
        if (upstream != null) {
            upstream.close();
        }
        System.out.println();
        System.out.print(measurements.table(wholeRun()));
        System.out.printf(
                Locale.ROOT,
                "permit-seconds in %d s: %s %.1f, %s %.1f%n%s: %.2f%n%n",
                settings.measured().toSeconds(),
                settings.shortHolds().tenant(),
                used(settings.shortHolds()),
                settings.longHolds().tenant(),
                used(settings.longHolds()),
                verdict,
                ratio());
    }

    private Duration wholeRun() {
        return settings.warmUp().plus(settings.measured()).plus(AFTERWARDS);
    }

    private String path(Side side) {
        return settings.route().path() + "?" + MILLIS + side.hold().toMillis();
    }

    /** The duration that {@link #path} gives the upstream. */
    private static Duration work(URI uri) {
        String query = uri.getQuery();
        return query != null && query.startsWith(MILLIS)
                ? Duration.ofMillis(Long.parseLong(query.substring(MILLIS.length())))
                : Duration.ZERO;
    }

    private PopulationBuilder users(String name, Side side) {
        ChainBuilder once = exec(http(name)
                        .get(path(side))
                        .header(NoisyNeighbourSimulation.TENANT_HEADER, side.tenant())
                        .check(status().is(200), responseTimeInMillis().saveAs(Measurements.MILLIS)))
                .exec(session -> measurements.measure(session, name))
                .doIf(Session::isFailed)
                .then(pause(PAUSE_AFTER_FAILURE).exec(Session::markAsSucceeded));
        return scenario(name).during(wholeRun(), false).on(once).injectOpen(atOnceUsers(side.users()));
    }

    /** Reads the meters while all users are at work. */
    private PopulationBuilder meters() {
        return scenario("meters")
                .pause(settings.warmUp())
                .exec(read(first))
                .pause(settings.measured())
                .exec(read(last))
                .injectOpen(atOnceUsers(1));
    }

    /** Reads the page twice, because while a pool is contended a page may show what the page before has looked up. */
    private ChainBuilder read(AtomicReference<@Nullable MetersPage> into) {
        return exec(page()).exec(page()).exec(session -> {
            into.set(new MetersPage(session.getString("page")));
            return session;
        });
    }

    private HttpRequestActionBuilder page() {
        return http(METERS)
                .get(settings.ports().management() + "/actuator/prometheus")
                .check(status().is(200), bodyString().saveAs("page"));
    }

    /** Reports the verdict to Gatling as a request, as {@link NoisyNeighbourSimulation} does. */
    private PopulationBuilder judgement() {
        return scenario("judgement")
                .exec(dummy(verdict, 0).withSuccess(session -> Math.abs(ratio() / wanted() - 1) <= TOLERANCE))
                .injectOpen(atOnceUsers(1));
    }

    private double wanted() {
        return settings.shortHolds().weight() / settings.longHolds().weight();
    }

    private double ratio() {
        return used(settings.shortHolds()) / used(settings.longHolds());
    }

    private double used(Side side) {
        MetersPage from = first.get();
        MetersPage to = last.get();
        String pool = settings.route().pool();
        return from == null || to == null
                ? Double.NaN
                : to.permitSeconds(pool, side.tenant()) - from.permitSeconds(pool, side.tenant());
    }

    private static Assertion noFailure(String name) {
        return details(name).failedRequests().count().is(0L);
    }
}

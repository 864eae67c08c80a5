package io.fairgate.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.permit.LeaseBounds;
import io.fairgate.permit.OnClientLeft;
import io.fairgate.permit.PoolSettings;
import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaRule;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.Quota;
import io.fairgate.spring.settings.FairgateProperties;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

/** Invalid properties of the starter are refused with their names. A value that YAML leaves empty is an empty text. */
class PolicyPropertiesTest {

    private static final Map<String, String> POLICY = Map.of(
            "tenants.identify[0].header", "X-Tenant-Id",
            "tenants.identify[0].trusted-from", "127.0.0.0/8",
            "tenants.plans.gold.quotas[0].name", "burst",
            "tenants.plans.gold.quotas[0].limit", "5",
            "tenants.plans.gold.quotas[0].per", "1s",
            "tenants.members.acme.plan", "gold",
            "pools.orders.permits", "4");

    /** @param changes such as {@code a=1, b=2}; {@code a!} takes a away */
    private static Policy policy(String changes) {
        Map<String, String> properties = new LinkedHashMap<>();
        POLICY.forEach((key, value) -> properties.put("fairgate.policy." + key, value));
        for (String change : changes.split(", ", -1)) {
            String key = "fairgate.policy." + change.replaceFirst("(=|!$).*", "");
            properties.remove(key);
            if (change.contains("=")) {
                properties.put(key, change.substring(change.indexOf('=') + 1));
            }
        }
        ConfigurationPropertySource source = new MapConfigurationPropertySource(properties);
        return FairgateAutoConfiguration.policy(List.of(source), new Binder(source));
    }

    /** All messages, also of the exceptions in which Spring wraps them. */
    private static String said(Throwable failure) {
        List<String> all = new ArrayList<>();
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            all.add(String.valueOf(cause.getMessage()));
        }
        return String.join("\n", all);
    }

    /** Keeps the table narrow. */
    private static String inFull(String changes) {
        return changes.replace("COMPLETE", "JWT.issuer=i, JWT.audience=a, JWT.jwks=k.json")
                .replace("JWT", "tenants.identify[1].jwt")
                .replace("QUOTA", "tenants.plans.gold.quotas[0]");
    }

    @Test
    void the_setting_on_client_left_of_a_pool_is_read() {
        assertThat(policy("pools.orders.on-client-left=close").pools().get("orders"))
                .isNotNull()
                .extracting(PoolSettings::onClientLeft)
                .isEqualTo(OnClientLeft.CLOSE);
    }

    @Test
    void metrics_name_members_as_in_the_policy_file() {
        assertThat(policy("metrics.tenants=acme").tenantsInMetrics()).containsExactly(TenantId.of("acme"));
        assertThat(policy("pools.orders.max-hold=PT5M").tenantsInMetrics()).isEmpty();
    }

    @Test
    void durations_are_written_as_in_the_policy_file() {
        Policy policy = policy("pools.orders.max-wait=250ms, pools.orders.max-hold=PT5M, pools.orders.lease.max-ttl=1m,"
                + " tenants.plans.gold.quotas[0].per=2h");
        assertThat(policy.pools().get("orders"))
                .isEqualTo(new PoolSettings(
                        4,
                        1000,
                        Duration.ofMillis(250),
                        Duration.ofMinutes(5),
                        new LeaseBounds(Duration.ofMinutes(1), Duration.ofHours(24))));
        assertThat(policy.members().values())
                .flatExtracting(TenantPolicy::quotas)
                .containsExactly(QuotaRule.of(new Quota.Rate("burst", 5, Duration.ofHours(2), 5)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            QUOTA.per=60                                              | QUOTA.per                                   | 60 (expected: a duration such as 250ms, 1s, 5m, 2h or 1d, or hour, day, week, month or total
            QUOTA.per=                                                | QUOTA.per                                   | nothing (expected: a duration such as 250ms, 1s, 5m, 2h or 1d
            QUOTA.per=fortnight                                       | QUOTA.per                                   | fortnight (expected: a duration such as 250ms, 1s, 5m, 2h or 1d
            QUOTA.per=-1s                                             | QUOTA.per                                   | -1s (expected: 1ms to 366d)
            QUOTA.per!                                                | QUOTA.per                                   | missing (expected: a duration such as 250ms, 1s, 5m, 2h or 1d, or hour, day, week, month or total; or within
            QUOTA.per!, QUOTA.within=60                               | QUOTA.within                                | 60 (expected: a duration such as 250ms, 1s, 5m, 2h or 1d
            QUOTA.per!, QUOTA.within=                                 | QUOTA.within                                | nothing (expected: a duration such as 250ms, 1s, 5m, 2h or 1d
            QUOTA.per!, QUOTA.within=0s                               | QUOTA.within                                | 0s (expected: 1ms to 366d)
            QUOTA.within=1s                                           | QUOTA.per                                   | 1s (expected: no per, because within is the window already)
            QUOTA.routes=                                             | QUOTA.routes                                | nothing (expected: a list of at least one id of a route)
            QUOTA.routes[0]=                                          | QUOTA.routes[0]                             | nothing (expected: the id of a route)
            QUOTA.name!                                               | QUOTA.name                                  | missing (expected: the name of the quota in header fields and metrics)
            QUOTA.name=a b                                            | QUOTA.name                                  | a b (expected: 1 to 64
            QUOTA.limit!                                              | QUOTA.limit                                 | missing (expected: units per window)
            QUOTA.limit=                                              | QUOTA.limit                                 | nothing (expected: a whole number in plain decimal digits)
            QUOTA.limit=-1                                            | QUOTA.limit                                 | -1 (expected: 1 to
            QUOTA.limit=many                                          | QUOTA.limit                                 | many (expected: a whole number in plain decimal digits)
            QUOTA.burst=0                                             | QUOTA.burst                                 | 0 (expected: 1 to
            QUOTA.zone=UTC                                            | QUOTA.zone                                  | UTC (expected: no zone, because only a quota of the calendar has one)
            QUOTA.per=day, QUOTA.zone=Mars                            | QUOTA.zone                                  | Mars (expected: a time zone such as UTC or Europe/Berlin)
            QUOTA.per=day, QUOTA.burst=2                              | QUOTA.burst                                 | 2 (expected: no burst, because only a quota per duration has one)
            QUOTA.enforce=                                            | QUOTA.enforce                               | nothing (expected: true or false)
            tenants.plans.gold.quotas[1].name=burst, tenants.plans.gold.quotas[1].limit=1, tenants.plans.gold.quotas[1].per=1h | tenants.plans.gold.quotas[1].name           | burst a second time
            tenants.groups.corp.quotas[0].name=x                      | tenants.groups.corp.quotas[0].limit         | missing (expected: units per window)
            tenants.plans.gold.weight=                                | tenants.plans.gold.weight                   | nothing (expected: a number such as 4 or 0.5)
            tenants.plans.gold.weight=-1                              | tenants.plans.gold.weight                   | -1 (expected: > 0 and <= 1000000)
            tenants.plans.gold.max-in-flight=0                        | tenants.plans.gold.max-in-flight            | 0 (expected: at least 1
            tenants.plans.gold.max-waiting=-1                         | tenants.plans.gold.max-waiting              | -1 (expected: at least 0
            tenants.plans.gold.guaranteed=-1                          | tenants.plans.gold.guaranteed               | -1 (expected: at least 0)
            tenants.plans.gold.reserved=5                             | pools.orders.permits                        | 4 (expected: at least 5
            tenants.plans.gold.parent=corp                            | tenants.plans.gold.parent                   | unknown group "corp" (expected: no group, because the policy defines none)
            tenants.plans.gold.plan=gold                              | tenants.plans.gold.plan                     | unknown key (expected: one of weight, guaranteed, reserved, max-in-flight, max-waiting,
            tenants.members.acme.plan=                                | tenants.members.acme.plan                   | nothing (expected: the name of a plan)
            tenants.members.acme.plan!, tenants.members.acme.weight=1 | tenants.members.acme.plan                   | missing (expected: the name of a plan)
            tenants.members.acme.weight=0                             | tenants.members.acme.weight                 | 0 (expected: > 0 and <= 1000000)
            tenants.members.acme.api-keys[0]=                         | tenants.members.acme.api-keys               | not used (expected: api-key in tenants.identify, or no such credentials)
            tenants.identify[1].api-key.header=X, tenants.members.acme.api-keys=fg_secret | tenants.members.acme.api-keys[0]            | not shown, because it may be a key (expected: sha256: and 64
            tenants.members.acme.certificates[0]=                     | tenants.members.acme.certificates           | not used (expected: client-certificate in tenants.identify, or no such credentials)
            tenants.members[a/b].plan=gold                            | tenants.members.a/b                         | not a name (expected: 1 to 64 characters of [A-Za-z0-9._-], the first not _)
            tenants.groups.corp.weight=0                              | tenants.groups.corp.weight                  | 0 (expected: > 0 and <= 1000000)
            tenants.classes.batch.weight=-1                           | tenants.classes.batch.weight                | -1 (expected: > 0 and <= 1000000)
            tenants.classes.batch.parent=corp                         | tenants.classes.batch.parent                | unknown key (expected: one of weight, guaranteed, max-in-flight, max-waiting)
            tenants.unknown=                                          | tenants.unknown                             | nothing (expected: refuse, or the name of a plan)
            tenants.forward-as=X Y                                    | tenants.forward-as                          | X Y (expected: the name of an HTTP header
            tenants.identify[0].header!, tenants.identify[0].trusted-from! | tenants.identify                            | missing (expected: a list of ways to identify a tenant, such as - header: X-Tenant-Id)
            tenants.identify[0].trusted-from=                         | tenants.identify[0].trusted-from            | nothing (expected: a list of the networks
            tenants.identify[0].trusted-from=here                     | tenants.identify[0].trusted-from[0]         | here (expected: a network such as
            tenants.identify[0].api-key.header=X                      | tenants.identify[0].api-key                 | beside header (expected: one way for each item of the list)
            tenants.identify[1].api-key=                              | tenants.identify[1].api-key.header          | missing (expected: the name of the header that carries the key, such as X-Api-Key)
            tenants.identify[1].api-key.scheme=Key                    | tenants.identify[1].api-key.header          | missing (expected: the name of the header that carries the key, such as X-Api-Key)
            tenants.identify[1].api-key.header=X, tenants.identify[1].api-key.scheme= | tenants.identify[1].api-key.scheme          | nothing (expected: a word
            tenants.identify[1].client-certificate=                   | tenants.identify[1].client-certificate.name | missing (expected: one of subject-cn
            tenants.identify[1].client-certificate.name=cn            | tenants.identify[1].client-certificate.name | cn (expected: one of subject-cn
            JWT=                                                      | JWT.issuer                                  | missing (expected: the value of iss in the tokens)
            JWT.issuer=i                                              | JWT.audience                                | missing (expected: a value of aud in the tokens)
            JWT.issuer=i, JWT.audience=a                              | JWT.jwks                                    | missing (expected: the location of the issuer's public keys: a URL or a file)
            COMPLETE, JWT.refresh=300                                 | JWT.refresh                                 | 300 (expected: a duration such as 250ms, 1s, 5m, 2h or 1d
            COMPLETE, JWT.refresh=1s                                  | JWT.refresh                                 | 1s (expected: 10s to 1d)
            COMPLETE, JWT.skew=30                                     | JWT.skew                                    | 30 (expected: a duration such as 250ms, 1s, 5m, 2h or 1d
            COMPLETE, JWT.algorithms=                                 | JWT.algorithms                              | nothing (expected: a list with at least one of
            pools.orders.permits=0                                    | pools.orders.permits                        | 0 (expected: 1 to
            pools.orders.permits=                                     | pools.orders.permits                        | nothing (expected: a whole number in plain decimal digits)
            pools.orders.permits!, pools.orders=                      | pools.orders.permits                        | missing (expected: the number of requests that may be in flight at once)
            pools.orders.max-waiting=-1                               | pools.orders.max-waiting                    | -1 (expected: at least 0
            pools.orders.max-waiting=                                 | pools.orders.max-waiting                    | nothing (expected: a whole number in plain decimal digits)
            pools.orders.max-wait=2                                   | pools.orders.max-wait                       | 2 (expected: a duration such as 250ms, 1s, 5m, 2h or 1d
            pools.orders.max-wait=0s                                  | pools.orders.max-wait                       | 0s (expected: more than 0, at most 365 days)
            pools.orders.max-hold=60                                  | pools.orders.max-hold                       | 60 (expected: a duration such as 250ms, 1s, 5m, 2h or 1d
            pools.orders.max-hold=                                    | pools.orders.max-hold                       | nothing (expected: a duration such as 250ms, 1s, 5m, 2h or 1d
            pools.orders.lease.max-ttl=0s                             | pools.orders.lease.max-ttl                  | 0s (expected: more than 0, at most 365 days)
            pools.orders.lease.max-hold=300                           | pools.orders.lease.max-hold                 | 300 (expected: a duration such as 250ms, 1s, 5m, 2h or 1d
            pools.orders.lease.ttl=5m                                 | pools.orders.lease.ttl                      | unknown key (expected: one of max-ttl, max-hold)
            pools[a b].permits=1                                      | pools.a b                                   | not a name (expected: 1 to 64 characters of [A-Za-z0-9._-], the first not _)
            rate-limit-headers=drfat                                  | rate-limit-headers                          | drfat (expected: one of draft, legacy, none)
            enforce=                                                  | enforce                                     | nothing (expected: true or false)
            metrics.tenants=acmee                                     | metrics.tenants[0]                          | unknown member "acmee" (expected: acme; did you mean acme?)
            metrics.tenant=acme                                       | metrics.tenant                              | unknown key (expected: tenants; did you mean tenants?)
            """)
    void an_invalid_property_is_refused_with_its_name(String changes, String property, String what) {
        assertThatThrownBy(() -> policy(inFull(changes)))
                .extracting(PolicyPropertiesTest::said)
                .asString()
                .contains("fairgate.policy." + inFull(property) + ": " + what);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            drain-time=10          | drain-time          | 10 (expected: a duration such as
            drain-time=-1s         | drain-time          | fairgate.drain-time: PT-1S (expected: >= 0)
            upstream-body-idle=30  | upstream-body-idle  | 30 (expected: a duration such as
            upstream-body-idle=    | upstream-body-idle  | nothing (expected: a duration such as
            upstream-body-idle=0s  | upstream-body-idle  | fairgate.upstream-body-idle: PT0S (expected: > 0)
            waiting-bodies=-1B     | waiting-bodies      | fairgate.waiting-bodies: -1B (expected: >= 0)
            metrics.tenants=-1     | metrics             | fairgate.metrics.tenants: -1 (expected: >= 0)
            """)
    void an_invalid_process_setting_is_refused_with_its_name(String setting, String name, String message) {
        String[] parts = setting.split("=", -1);
        assertThatThrownBy(() -> new Binder(
                                new MapConfigurationPropertySource(Map.of("fairgate." + parts[0], parts[1])))
                        .bindOrCreate("fairgate", FairgateProperties.class))
                .extracting(PolicyPropertiesTest::said)
                .asString()
                .contains("fairgate." + name, message);
    }
}

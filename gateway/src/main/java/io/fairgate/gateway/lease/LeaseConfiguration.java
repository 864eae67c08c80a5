package io.fairgate.gateway.lease;

import io.fairgate.gateway.check.CheckOnly;
import io.fairgate.gateway.http.HttpCall;
import io.fairgate.gateway.http.RouteTable;
import io.fairgate.gateway.http.RouteTable.Route;
import io.fairgate.gateway.lease.receipt.ReceiptKeys;
import io.fairgate.gateway.lease.receipt.Receipts;
import io.fairgate.lease.FencingTokens;
import io.fairgate.lease.LeaseCount;
import io.fairgate.lease.Leases;
import io.fairgate.lease.embedded.EmbeddedLeases;
import io.fairgate.spring.admission.TenantAccess;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.metrics.FairgateMeters;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.policyfile.PoolUsers;
import io.fairgate.spring.refusal.RecordLog;
import io.fairgate.time.MonotonicScheduler;
import java.io.IOException;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The lease API, if the settings enable it. The settings are read and validated in either case. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(LeaseSettings.class)
public class LeaseConfiguration {

    /** The port is also needed for throttle's clients alone. */
    public static final class Wanted extends AnyNestedCondition {
        Wanted() {
            super(ConfigurationPhase.PARSE_CONFIGURATION);
        }

        @ConditionalOnBooleanProperty(LeaseSettings.PREFIX + ".enabled")
        static final class Natively {}

        @ConditionalOnBooleanProperty(LeaseSettings.THROTTLE + ".enabled")
        static final class ForThrottle {}
    }

    /** Clients of the lease port may use any pool. */
    @Bean
    PoolUsers poolUsers(LeaseSettings settings) {
        return () -> settings.enabled() || settings.throttle().enabled();
    }

    /** Everything behind the lease port. Beans of type {@code Supplier<List<Route>>} have the routes of its table. */
    @Configuration(proxyBeanMethods = false)
    @Conditional(Wanted.class)
    @Import(LeasePools.class)
    static class Enabled {

        /** @throws IOException when the fencing file cannot be read or cannot be written */
        @Bean
        FencingTokens fencingTokens(ObjectProvider<FencingFile> file) throws IOException {
            FencingFile kept = file.getIfAvailable();
            return kept == null
                    ? new FencingTokens(InstantSource.system())
                    : new FencingTokens(InstantSource.system(), kept, Schedulers.boundedElastic()::schedule);
        }

        @Bean
        @Nullable
        FencingFile fencingFile(LeaseSettings settings) {
            return settings.fencingFile() == null ? null : FencingFile.open(settings.fencingFile());
        }

        /** Null when no keys are configured. */
        @Bean
        @Nullable
        Receipts receipts(LeaseSettings settings) {
            ReceiptKeys keys = settings.receiptKeys();
            return keys == null ? null : new Receipts(keys, InstantSource.system());
        }

        /** The backend of the leases: a bean of this type that is defined before puts them elsewhere. */
        @Bean(destroyMethod = "") // the lease port closes them
        @ConditionalOnMissingBean
        Leases leases(LeasePools pools, FencingTokens tokens) {
            return new EmbeddedLeases(pools, MonotonicScheduler.INSTANCE, tokens);
        }

        @Bean
        LeaseRegister leaseRegister(
                FairgateMeters meters, RecordLog auditLog, PolicyHolder policy, LeaseSettings settings, Leases leases) {
            Supplier<LeaseCount> count = latestCount(leases);
            meters.leases("held", () -> count.get().holding());
            meters.leases("waiting", () -> count.get().waiting());
            LeaseAuditLog audit = new LeaseAuditLog(meters, auditLog, policy, InstantSource.system());
            return new LeaseRegister(settings, audit, MonotonicScheduler.INSTANCE, leases);
        }

        /** The latest count that is known: an answer that comes later shows in the next call. */
        private static Supplier<LeaseCount> latestCount(Leases leases) {
            AtomicReference<LeaseCount> latest = new AtomicReference<>(new LeaseCount(0, 0, 0));
            return () -> {
                var unused = leases.count().onErrorComplete().subscribe(latest::set);
                return latest.get();
            };
        }

        @Bean
        @ConditionalOnBooleanProperty(LeaseSettings.PREFIX + ".enabled")
        LeaseRoutes leaseRoutes(
                TenantAccess access, LeasePools pools, LeaseRegister register, ObjectProvider<Receipts> receipts) {
            return new LeaseRoutes(
                    access, pools, register, new LeaseView(InstantSource.system(), receipts.getIfAvailable()));
        }

        @Bean
        LeasesEndpoint leasesEndpoint(LeaseRegister register) {
            return new LeasesEndpoint(register);
        }

        /** @param notFound answers unknown paths of throttle, if that is served */
        @Bean
        RouteTable leaseRouteTable(
                ObjectProvider<Supplier<List<Route>>> routes, ObjectProvider<HttpCall.Handler> notFound) {
            return new RouteTable(
                    routes.orderedStream().flatMap(each -> each.get().stream()).toList(),
                    call -> LeaseRoutes.isOwn(call.path())
                            ? Mono.error(LeaseProblems.NOT_FOUND)
                            : notFound.getIfAvailable(() -> other -> Mono.error(LeaseProblems.NOT_FOUND))
                                    .handle(call),
                    call -> LeaseRoutes.isOwn(call.path())
                            ? Mono.error(LeaseProblems.NOT_ALLOWED)
                            : call.answer(HttpStatus.METHOD_NOT_ALLOWED));
        }

        @Bean
        @ConditionalOnMissingBean(CheckOnly.class)
        LeaseApiServer leaseApiServer(
                LeaseSettings settings,
                LeaseRegister register,
                RouteTable routes,
                TenantAccess access,
                PolicyHolder policy,
                PermitPools pools) {
            return new LeaseApiServer(settings, register, routes, access, policy, pools, MonotonicScheduler.INSTANCE);
        }
    }
}

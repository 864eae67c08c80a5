package io.fairgate.gateway.lease;

import io.fairgate.gateway.http.Call;
import io.fairgate.gateway.http.RouteTable;
import io.fairgate.lease.FencingTokens;
import io.fairgate.lease.LeaseCount;
import io.fairgate.lease.Leases;
import io.fairgate.lease.embedded.EmbeddedLeases;
import io.fairgate.spring.admission.TenantAccess;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.time.MonotonicScheduler;
import java.io.IOException;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
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
    static final class Wanted extends AnyNestedCondition {
        Wanted() {
            super(ConfigurationPhase.PARSE_CONFIGURATION);
        }

        @ConditionalOnBooleanProperty(LeaseSettings.PREFIX + ".enabled")
        static final class Natively {}

        @ConditionalOnBooleanProperty(LeaseSettings.THROTTLE + ".enabled")
        static final class ForThrottle {}
    }

    /** Everything behind the lease port. Beans of type {@code Consumer<RouteTable.Builder>} add routes to its table. */
    @Configuration(proxyBeanMethods = false)
    @Conditional(Wanted.class)
    @Import(ThrottleConfiguration.class)
    static class Enabled {

        /** @throws IOException when the fencing file cannot be read or cannot be written */
        @Bean
        FencingTokens fencingTokens(LeaseSettings settings, ObjectProvider<FencingFile> file) throws IOException {
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

        @Bean
        LeasePools leasePools(PermitPools pools, PolicyHolder policy) {
            return new LeasePools(pools, policy);
        }

        @Bean
        LeaseRecords leaseRecords(TenantAccess access) {
            return new LeaseRecords(access, InstantSource.system());
        }

        @Bean
        Leases leases(LeasePools pools, FencingTokens tokens) {
            return new EmbeddedLeases(pools, MonotonicScheduler.INSTANCE, tokens);
        }

        @Bean
        LeaseDesk leaseDesk(
                TenantAccess access,
                LeasePools pools,
                LeaseRecords records,
                LeaseSettings settings,
                Leases leases) {
            Supplier<LeaseCount> count = lastCount(leases);
            access.showLeases(() -> count.get().holding(), () -> count.get().waiting());
            return new LeaseDesk(access, pools, records, settings, leases, MonotonicScheduler.INSTANCE);
        }

        /** The newest count that has been answered; one that is answered later shows in the next call. */
        private static Supplier<LeaseCount> lastCount(Leases leases) {
            AtomicReference<LeaseCount> last = new AtomicReference<>(new LeaseCount(0, 0, 0));
            return () -> {
                var unused = leases.count().subscribe(last::set, unreachable -> {});
                return last.get();
            };
        }

        @Bean
        @ConditionalOnBooleanProperty(LeaseSettings.PREFIX + ".enabled")
        LeaseRoutes leaseRoutes(
                TenantAccess access,
                LeaseDesk desk,
                LeasePools pools,
                LeaseRecords records,
                ObjectProvider<Receipts> receipts) {
            LeaseView view = new LeaseView(InstantSource.system(), receipts.getIfAvailable());
            return new LeaseRoutes(access, desk, pools, records, view);
        }

        @Bean
        RouteTable leaseRouteTable(
                ObjectProvider<Consumer<RouteTable.Builder>> routes, ObjectProvider<Call.Handler> otherwise) {
            RouteTable.Builder table = new RouteTable.Builder();
            routes.orderedStream().forEach(each -> each.accept(table));
            return table.otherwise(
                    otherwise.getIfAvailable(() -> call -> Mono.error(LeaseProblem.notFound())),
                    call -> LeaseRoutes.isOwn(
                                    call.exchange().getRequest().getURI().getRawPath())
                            ? Mono.error(LeaseProblem.notAllowed())
                            : call.answer(HttpStatus.METHOD_NOT_ALLOWED));
        }

        @Bean
        LeaseServer leaseServer(
                LeaseSettings settings, LeaseDesk desk, RouteTable routes, TenantAccess access, PermitPools pools) {
            return new LeaseServer(settings, desk, routes, access, pools, MonotonicScheduler.INSTANCE);
        }
    }
}

package io.fairgate.gateway.trace;

import io.fairgate.gateway.check.CheckOnly;
import io.fairgate.spring.policy.PolicyHolder;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.util.Objects;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Traces, if a collector is named. Without one, no class of OpenTelemetry is loaded. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(TraceSettings.class)
public class TraceConfiguration {

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(TraceSettings.PREFIX + ".endpoint")
    @ConditionalOnMissingBean(CheckOnly.class)
    static class Traced {

        /** Spans that the collector does not take in time are dropped: at most 2048 wait. Closing sends those. */
        @Bean
        SdkTracerProvider tracerProvider(TraceSettings settings) {
            OtlpHttpSpanExporter exporter = OtlpHttpSpanExporter.builder()
                    .setEndpoint(Objects.requireNonNull(settings.endpoint()).toString())
                    .build();
            return SdkTracerProvider.builder()
                    .setResource(Resource.getDefault().toBuilder()
                            .put("service.name", settings.service())
                            .build())
                    .setSampler(Sampler.parentBased(Sampler.traceIdRatioBased(settings.sampled())))
                    .addSpanProcessor(BatchSpanProcessor.builder(exporter).build())
                    .build();
        }

        /** Boot gives it to the registry of meters for Prometheus. */
        @Bean
        ExemplarSpan exemplarSpan() {
            return new ExemplarSpan();
        }

        @Bean
        RequestSpans requestSpans(SdkTracerProvider provider, PolicyHolder policy) {
            return new RequestSpans(provider.get("io.fairgate"), policy);
        }
    }
}

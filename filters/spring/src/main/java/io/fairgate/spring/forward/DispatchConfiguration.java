package io.fairgate.spring.forward;

import io.fairgate.policy.Policy;
import io.fairgate.spring.admission.StrictRequests;
import io.fairgate.spring.refusal.RefusalHandler;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.webflux.autoconfigure.WebHttpHandlerBuilderCustomizer;
import org.springframework.cloud.gateway.config.GatewayProperties;
import org.springframework.cloud.gateway.filter.WeightCalculatorWebFilter;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.server.adapter.HttpWebHandlerAdapter;

/**
 * Puts {@link EarlyHandler} before Spring's handling of requests, and {@link RouteDispatcher} in the place of its
 * dispatcher.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
@ConditionalOnProperty(name = GatewayProperties.PREFIX + ".enabled", matchIfMissing = true)
@Import(EarlyRoutes.class)
public class DispatchConfiguration {

    /** A bean cannot replace another one, but a post-processor can. */
    @Bean
    static BeanPostProcessor fairgateHandlers(
            ApplicationContext context,
            ObjectProvider<StrictRequests> strict,
            ObjectProvider<EarlyRoutes> early,
            ObjectProvider<RefusalHandler> refusals,
            ObjectProvider<WeightCalculatorWebFilter> weights) {
        return new BeanPostProcessor() {
            @Override
            public Object postProcessAfterInitialization(Object bean, String beanName) {
                if (bean.getClass() == HttpWebHandlerAdapter.class) {
                    return new EarlyHandler(
                            (HttpWebHandlerAdapter) bean, context.getEnvironment(), strict, early, refusals);
                }
                return bean.getClass() == DispatcherHandler.class
                        ? new RouteDispatcher(context, strict, early, weights)
                        : bean;
            }
        };
    }

    /** The dispatcher draws the weights. As a filter, this would cost every request more than a look-up of its route. */
    @Bean
    WebHttpHandlerBuilderCustomizer fairgateWeights() {
        return builder -> builder.filters(
                filters -> filters.removeIf(filter -> filter.getClass() == WeightCalculatorWebFilter.class));
    }
}

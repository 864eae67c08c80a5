package io.fairgate.spring.policyfile;

import io.fairgate.config.model.RouteDeclaration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.cloud.gateway.route.RouteDefinition;
import org.springframework.core.env.MapPropertySource;

/**
 * The routes of the policy file as route definitions of Spring Cloud Gateway, each with its lines in the file.
 *
 * @param file the name of the file
 */
public record PolicyRoutes(String file, List<PolicyRoute> routes) {

    record PolicyRoute(RouteDeclaration declaration, RouteDefinition definition) {}

    public static PolicyRoutes of(String file, List<RouteDeclaration> declarations) {
        return new PolicyRoutes(
                file,
                declarations.stream()
                        .map(declaration -> new PolicyRoute(declaration, bind(declaration)))
                        .toList());
    }

    /** Uses Boot's own binder, so that a route has the same meaning here as in {@code application.yml}. */
    private static RouteDefinition bind(RouteDeclaration declaration) {
        Map<String, Object> properties = new LinkedHashMap<>();
        flatten("route", declaration.definition(), properties);
        return new Binder(ConfigurationPropertySources.from(new MapPropertySource("policy", properties)))
                .bind("route", Bindable.of(RouteDefinition.class))
                .get();
    }

    private static void flatten(String key, Object value, Map<String, Object> properties) {
        if (value instanceof Map<?, ?> map && !map.isEmpty()) {
            map.forEach((name, below) -> flatten(key + "[" + name + "]", below, properties));
        } else if (value instanceof List<?> list && !list.isEmpty()) {
            for (int i = 0; i < list.size(); i++) {
                flatten(key + "[" + i + "]", list.get(i), properties);
            }
        } else {
            properties.put(key, value);
        }
    }
}

package io.fairgate.config.routes;

import io.fairgate.config.model.RouteDeclaration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The filters and predicates of Spring Cloud Gateway that the gateway has, besides its own. A test of the gateway compares them with
 * its beans. A program with other beans checks those when it builds the routes.
 */
public final class BuiltIns {

    /** Name, arguments in the order of the short form ({@code *}: any), arguments of the long form ({@code *}: any). */
    public static final Map<String, Component> FILTERS = read("""
            AddRequestHeader name,value name,value
            AddRequestHeadersIfNotPresent * *
            AddRequestParameter name,value name,value
            AddResponseHeader name,value,override name,override,value
            CacheRequestBody - bodyClass
            DedupeResponseHeader name,strategy name,strategy
            MapRequestHeader fromHeader,toHeader fromHeader,toHeader
            ModifyRequestBody - contentType,inClass,outClass,rewriteFunction
            ModifyResponseBody - inClass,inHints,newContentType,outClass,outHints,rewriteFunction
            PrefixPath prefix prefix
            PreserveHostHeader * *
            RedirectTo status,url,includeRequestParams includeRequestParams,status,url
            RemoveJsonAttributesResponseBody * *
            RemoveRequestHeader name name
            RemoveRequestParameter name name
            RemoveResponseHeader name name
            RequestHeaderSize maxSize errorHeaderName,maxSize
            RequestHeaderToRequestUri name name
            RequestSize - maxSize
            Retry retries,statuses,methods,backoff.firstBackoff,backoff.maxBackoff,backoff.factor,backoff.basedOnPreviousValue,jitter.randomFactor,timeout backoff.basedOnPreviousValue,backoff.factor,backoff.firstBackoff,backoff.maxBackoff,exceptions,jitter,jitter.randomFactor,methods,retries,routeId,series,statuses,timeout
            RewriteLocationResponseHeader stripVersion,locationHeaderName,hostValue,protocols hostValue,locationHeaderName,protocols,stripVersion
            RewritePath regexp,replacement regexp,replacement
            RewriteRequestParameter name,replacement name,replacement
            RewriteResponseHeader name,regexp,replacement name,regexp,replacement
            SaveSession * *
            SecureHeaders - contentSecurityPolicyHeaderValue,contentTypeOptionsHeaderValue,disable,downloadOptionsHeaderValue,enable,frameOptionsHeaderValue,permissionPolicyHeaderValue,permissionsPolicy,permittedCrossDomainPoliciesHeaderValue,referrerPolicyHeaderValue,routeDisabledHeaders,routeEnabledHeaders,strictTransportSecurityHeaderValue,xssProtectionHeaderValue
            SetPath template template
            SetRequestHeader name,value name,value
            SetRequestHostHeader host host
            SetRequestUri template template
            SetResponseHeader name,value name,value
            SetStatus status status
            StripPrefix parts parts
            """);

    public static final Map<String, Component> PREDICATES = read("""
            After datetime datetime
            Before datetime datetime
            Between datetime1,datetime2 datetime1,datetime2
            CloudFoundryRouteService * *
            Cookie name,regexp name,regexp
            Header header,regexp header,regexp
            Host * *
            Method * *
            Path * *
            Query param,regexp,predicate param,predicate,regexp
            ReadBody - hints,inClass,predicate
            RemoteAddr * *
            Version version version
            Weight weight.group,weight.weight group,routeId,weight
            XForwardedRemoteAddr * *
            """);

    /** Libraries that other filters of Spring Cloud Gateway need, by name of the filter. */
    public static final Map<String, String> LIBRARIES = Map.of(
            "CircuitBreaker", "org.springframework.cloud:spring-cloud-starter-circuitbreaker-reactor-resilience4j",
            "FallbackHeaders", "org.springframework.cloud:spring-cloud-starter-circuitbreaker-reactor-resilience4j",
            "JsonToGrpc", "io.grpc:grpc-netty, grpc-protobuf and grpc-stub",
            "LocalResponseCache", "org.springframework.boot:spring-boot-starter-cache",
            "RequestRateLimiter", "org.springframework.boot:spring-boot-starter-data-redis-reactive",
            "TokenRelay", "org.springframework.boot:spring-boot-starter-security-oauth2-client");

    private static final Set<String> OWN = Set.of("FairShare", "Cost", "Tenant");

    private BuiltIns() {}

    public static Map<String, Component> of(boolean isFilter) {
        return isFilter ? FILTERS : PREDICATES;
    }

    /** Whether a route has only filters and predicates of these, and Fairgate's own. Any thread. */
    public static boolean areAllOf(RouteDeclaration route) {
        return names(route, "filters").allMatch(name -> isKnown(name, true))
                && names(route, "predicates").allMatch(name -> isKnown(name, false));
    }

    static boolean isKnown(String name, boolean isFilter) {
        return OWN.contains(name) || of(isFilter).containsKey(name);
    }

    private static Stream<String> names(RouteDeclaration route, String key) {
        return route.definition().get(key) instanceof List<?> components
                ? components.stream().map(BuiltIns::name)
                : Stream.empty();
    }

    private static String name(Object component) {
        return component instanceof Map<?, ?> longForm
                ? String.valueOf(longForm.get("name"))
                : String.valueOf(component).split("=", 2)[0];
    }

    private static Map<String, Component> read(String lines) {
        return lines.lines()
                .map(Component::parse)
                .collect(Collectors.toUnmodifiableMap(Component::name, Function.identity()));
    }
}

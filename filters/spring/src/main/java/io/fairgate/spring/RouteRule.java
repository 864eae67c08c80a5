package io.fairgate.spring;

/** What a filter of a route says about the admission of its requests. */
sealed interface RouteRule permits FairShareRule, CostRule {}

package io.fairgate.gateway;

import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The allowed dependencies of all modules, tested here because this module has all others on its path. A module is recognised by
 * its packages.
 */
@AnalyzeClasses(packages = "io.fairgate", importOptions = ImportOption.DoNotIncludeTests.class)
class ModuleRulesTest {

    private static final String[] CORE = {
        "io.fairgate.tenant..",
        "io.fairgate.policy..",
        "io.fairgate.quota..",
        "io.fairgate.permit..",
        "io.fairgate.fairness..",
        "io.fairgate.shares..",
        "io.fairgate.status..",
        "io.fairgate.time..",
        "io.fairgate.lease..",
        "io.fairgate.replay..",
        "io.fairgate.upstream.."
    };
    private static final String TESTKIT = "io.fairgate.testkit..";
    private static final String CONFIG = "io.fairgate.config..";
    private static final String REDIS = "io.fairgate.redis..";
    private static final String SPRING = "io.fairgate.spring..";
    private static final String CLIENT = "io.fairgate.client..";
    private static final String BOOT = "io.fairgate.boot..";
    private static final String GATEWAY = "io.fairgate.gateway..";
    /** Commands that are processes of their own, and no part of a running gateway. */
    private static final String OPERATE = "io.fairgate.gateway.operate..";

    private static final String SPRING_ITSELF = "org.springframework..";
    private static final String REDIS_CLIENT = "io.lettuce..";
    private static final String MICROMETER = "io.micrometer..";
    private static final String NETTY = "io.netty..";
    private static final String REACTOR_NETTY = "reactor.netty..";

    private static final DescribedPredicate<JavaAccess<?>> BLOCKS = target(
                    nameMatching("block(First|Last|Optional)?|toIterable|toStream"))
            .and(target(owner(assignableTo(Mono.class).or(assignableTo(Flux.class)))))
            .or(target(nameMatching("sleep")).and(target(owner(assignableTo(Thread.class)))))
            .as("a method blocks");

    @ArchTest
    static final ArchRule the_core_is_a_plain_reactive_library = noClasses()
            .that()
            .resideInAnyPackage(CORE)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    SPRING_ITSELF,
                    REDIS_CLIENT,
                    MICROMETER,
                    "com.fasterxml.jackson..",
                    "tools.jackson..",
                    NETTY,
                    REACTOR_NETTY,
                    "org.slf4j..",
                    "org.yaml..");

    @ArchTest
    static final ArchRule the_core_knows_no_other_module = noClasses()
            .that()
            .resideInAnyPackage(CORE)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(TESTKIT, CONFIG, REDIS, SPRING, GATEWAY);

    @ArchTest
    static final ArchRule the_testkit_knows_the_core_only = noClasses()
            .that()
            .resideInAPackage(TESTKIT)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(SPRING_ITSELF, REDIS_CLIENT, CONFIG, REDIS, SPRING, GATEWAY);

    @ArchTest
    static final ArchRule config_knows_the_core_only = noClasses()
            .that()
            .resideInAPackage(CONFIG)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(SPRING_ITSELF, REDIS_CLIENT, TESTKIT, REDIS, SPRING, GATEWAY);

    @ArchTest
    static final ArchRule redis_knows_the_core_only = noClasses()
            .that()
            .resideInAPackage(REDIS)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(SPRING_ITSELF, TESTKIT, CONFIG, SPRING, GATEWAY)
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule the_starter_knows_the_core_and_config_only = noClasses()
            .that()
            .resideInAPackage(SPRING)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(REDIS, REDIS_CLIENT, TESTKIT, GATEWAY);

    @ArchTest
    static final ArchRule only_the_rooms_that_read_a_policy_know_config = noClasses()
            .that()
            .resideInAPackage(SPRING)
            .and()
            .resideOutsideOfPackages(
                    "io.fairgate.spring.autoconfigure", "io.fairgate.spring.policyfile", "io.fairgate.spring.whatif")
            .should()
            .dependOnClassesThat()
            .resideInAPackage(CONFIG);

    @ArchTest
    static final ArchRule only_the_beans_of_the_starter_name_the_embedded_pools_and_quotas = noClasses()
            .that()
            .resideInAPackage(SPRING)
            .and()
            .haveNameNotMatching(".*\\.(FairShareConfiguration|QuotaConfiguration)(\\$.*)?")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.fairgate.permit.embedded..", "io.fairgate.quota.embedded..");

    @ArchTest
    static final ArchRule the_client_knows_no_other_module = noClasses()
            .that()
            .resideInAPackage(CLIENT)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(CORE)
            .orShould()
            .dependOnClassesThat()
            .resideInAnyPackage(SPRING_ITSELF, MICROMETER, TESTKIT, CONFIG, REDIS, SPRING, GATEWAY);

    @ArchTest
    static final ArchRule only_boot_and_the_command_line_depend_on_the_client = noClasses()
            .that()
            .resideOutsideOfPackages(CLIENT, BOOT, OPERATE)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(CLIENT);

    @ArchTest
    static final ArchRule boot_knows_the_core_and_the_client_only = noClasses()
            .that()
            .resideInAPackage(BOOT)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(TESTKIT, CONFIG, REDIS, SPRING, GATEWAY);

    @ArchTest
    static final ArchRule no_other_module_depends_on_boot = noClasses()
            .that()
            .resideOutsideOfPackage(BOOT)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(BOOT);

    @ArchTest
    static final ArchRule no_other_module_depends_on_the_program = noClasses()
            .that()
            .resideOutsideOfPackage(GATEWAY)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(GATEWAY);

    @ArchTest
    static final ArchRule only_what_makes_a_backend_names_it = noClasses()
            .that()
            .resideInAPackage(GATEWAY)
            .and()
            .haveNameNotMatching(".*[.](LeaseConfiguration\\$Enabled|ThrottleServer)(\\$.*)?")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.fairgate.lease.embedded..", "io.fairgate.permit.embedded..", "io.fairgate.quota.embedded..");

    @ArchTest
    static final ArchRule packages_have_no_cycles =
            slices().matching("io.fairgate.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule no_thread_is_blocked = noClasses()
            .that()
            .resideOutsideOfPackages(TESTKIT, OPERATE)
            .should()
            .accessTargetWhere(BLOCKS);

    @ArchTest
    static final ArchRule names_say_what_differs = noClasses()
            .should()
            .haveNameMatching("(.*[.$])?((Default|Abstract|Base)[A-Z]\\w*|\\w*(Impl|Utils?|Helper|Manager))");
}

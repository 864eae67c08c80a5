package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.FairgateProcess.Started;
import io.fairgate.gateway.library.AccountResolver;
import io.fairgate.gateway.library.GreetingAutoConfiguration;
import io.fairgate.gateway.library.GreetingGatewayFilterFactory;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A filter, and a way to identify tenants, of a library in a folder beside the program. */
class LibraryIT {

    private static final String IMPORTS =
            "META-INF/spring/org.springframework.boot.autoconfigure.AutoConfiguration.imports";

    private final Path folder;

    @RegisterExtension
    final FairgateProcess fairgate = new FairgateProcess();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    LibraryIT(@TempDir Path folder) {
        this.folder = folder;
    }

    private String policy(String filter) {
        return TestPolicy.onePool(upstream.url(), "permits: 2")
                .replace("\"FairShare=pool\"", "FairShare=pool, " + filter);
    }

    private Path library() throws IOException {
        Path libraries = Files.createDirectories(folder.resolve("lib"));
        try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(libraries.resolve("greeting.jar")))) {
            jar.putNextEntry(new JarEntry(IMPORTS));
            jar.write(GreetingAutoConfiguration.class.getName().getBytes(StandardCharsets.UTF_8));
            for (Class<?> type : List.of(
                    AccountResolver.class,
                    GreetingAutoConfiguration.class,
                    GreetingGatewayFilterFactory.class,
                    GreetingGatewayFilterFactory.Config.class)) {
                String name = type.getName().replace('.', '/') + ".class";
                jar.putNextEntry(new JarEntry(name));
                try (InputStream in =
                        Objects.requireNonNull(type.getClassLoader().getResourceAsStream(name))) {
                    in.transferTo(jar);
                }
            }
        }
        return libraries;
    }

    @Test
    void requests_pass_a_filter_of_a_library() throws Exception {
        Started gateway = fairgate.withLibraries(library()).serve(folder, policy("Greeting=world"));
        try (RawClient client = new RawClient(gateway.port())) {
            assertThat(client.get("/fair/1", "a").readUntil("ok")).startsWith("HTTP/1.1 200");
        }
        assertThat(String.join("\n", upstream.heads())).containsIgnoringCase("X-Greeting: Hello world\r\n");
    }

    @Tag("long")
    @Test
    void check_knows_the_filter_and_its_arguments_with_the_library_only() throws Exception {
        Path file = Files.writeString(
                folder.resolve("p.yml"), policy("Greeting=world, { name: Greeting, args: { nam: x } }"));
        Started without = fairgate.start(folder, "check", file.toString());
        assertThat(without.awaitExit()).isOne();
        assertThat(without.out()).contains(":17: routes[0].filters[1]: unknown filter \"Greeting\" (expected: one of ");

        Started with = fairgate.withLibraries(library()).start(folder, "check", file.toString());
        assertThat(with.awaitExit()).isOne();
        assertThat(with.out().strip())
                .isEqualTo(
                        file + ":17: routes[0].filters[2]: Greeting: nam would be ignored (expected: name; did you mean"
                                + " name?)");
    }

    private String byAccount() {
        return TestPolicy.identifiedBy("accounts", TestPolicy.onePool(upstream.url(), "permits: 2"));
    }

    @Test
    void tenants_are_identified_by_a_bean_of_a_library() throws Exception {
        Started gateway = fairgate.withLibraries(library()).serve(folder, byAccount());
        try (RawClient client = new RawClient(gateway.port())) {
            client.send("GET /fair/1 HTTP/1.1\r\nHost: x\r\nX-Account: a\r\n\r\n");
            assertThat(client.readUntil("ok")).startsWith("HTTP/1.1 200");
        }
        assertThat(String.join("\n", upstream.heads())).containsIgnoringCase("X-Tenant-Id: a\r\n");
    }

    @Tag("long")
    @Test
    void without_the_library_check_and_serve_say_which_bean_is_missing_and_where() throws Exception {
        Path file = Files.writeString(folder.resolve("p.yml"), byAccount());
        String mistake =
                file + ":3: tenants.identify[0].bean: no bean \"accounts\" of type TenantResolver (expected: an"
                        + " application with such a bean, or a library that has it on the class path: docs/identity.md)";
        Started check = fairgate.start(folder, "check", file.toString());
        assertThat(check.awaitExit()).isOne();
        assertThat(check.out().strip()).isEqualTo(mistake);

        Started serve = fairgate.start(folder, "serve", "--config", file.toString(), "--server.port=0");
        assertThat(serve.awaitExit()).isOne();
        assertThat(serve.err().strip()).isEqualTo(mistake);
    }
}

package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.netty.http.client.HttpClient;

/** The jar of the program holds all its dependencies, merged. What several of them declare in one file must not be lost. */
class JarIT {

    private static final Pattern CLASS_PATH = Pattern.compile(File.pathSeparator);
    private static final Pattern COMMA = Pattern.compile(",");

    /** Lists of class names, and properties whose values are such lists. */
    private static final List<String> LISTS = List.of(
            "META-INF/services/", "META-INF/spring/", "META-INF/spring.factories", "META-INF/spring-autoconfigure");

    private static JarFile program() throws IOException {
        return new JarFile(Objects.requireNonNull(System.getProperty("fairgate.jar"), "-Dfairgate.jar"));
    }

    /** The jars on the class path of the tests that are part of the program: it has the first class of each. */
    private static List<File> dependencies(JarFile program) throws IOException {
        List<File> found = new ArrayList<>();
        for (String path :
                CLASS_PATH.splitAsStream(System.getProperty("java.class.path")).toList()) {
            File file = new File(path);
            if (file.isFile() && isPartOf(program, file)) {
                found.add(file);
            }
        }
        return found;
    }

    private static boolean isPartOf(JarFile program, File file) throws IOException {
        try (JarFile jar = new JarFile(file)) {
            return jar.stream()
                    .map(JarEntry::getName)
                    .filter(name -> name.endsWith(".class") && !name.contains("META-INF") && !name.contains("-info"))
                    .findFirst()
                    .map(name -> program.getEntry(name) != null)
                    .orElse(false);
        }
    }

    /** What lists say, without their order, their comments and their form: "key" or "key=value". */
    private static Set<String> declared(String name, String text) {
        boolean isProperties = name.endsWith(".factories") || name.endsWith(".properties");
        return text.replaceAll("\\\\\\r?\\n\\s*", "")
                .lines()
                .map(line -> line.replaceFirst("#.*", "").strip())
                .filter(line -> !line.isEmpty())
                .flatMap(line -> isProperties ? pairs(line) : Stream.of(line))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Stream<String> pairs(String line) {
        String[] pair = line.replace("\\:", ":").split("=", 2);
        return pair.length == 1
                ? Stream.of(pair[0].strip())
                : COMMA.splitAsStream(pair[1]).map(value -> pair[0].strip() + "=" + value.strip());
    }

    private static String read(JarFile jar, JarEntry entry) throws IOException {
        try (InputStream in = jar.getInputStream(entry)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void it_declares_whatever_its_dependencies_declare() throws IOException {
        try (JarFile program = program()) {
            List<File> dependencies = dependencies(program);
            assertThat(dependencies).hasSizeGreaterThan(50);
            int lists = 0;
            for (File file : dependencies) {
                lists += assertDeclares(program, file);
            }
            assertThat(lists).isGreaterThan(50);
        }
    }

    private static int assertDeclares(JarFile program, File file) throws IOException {
        int lists = 0;
        try (JarFile jar = new JarFile(file)) {
            List<JarEntry> entries = jar.stream()
                    .filter(entry -> !entry.isDirectory() && LISTS.stream().anyMatch(entry.getName()::startsWith))
                    .toList();
            for (JarEntry entry : entries) {
                JarEntry merged = program.getJarEntry(entry.getName());
                assertThat(merged).as("%s of %s", entry, file.getName()).isNotNull();
                assertThat(declared(entry.getName(), read(program, merged)))
                        .as("%s of %s", entry, file.getName())
                        .containsAll(declared(entry.getName(), read(jar, entry)));
                lists++;
            }
        }
        return lists;
    }

    /** Upstreams see it in the field User-Agent of requests without one. */
    @Test
    void reactor_netty_keeps_its_version() throws IOException {
        try (JarFile program = program()) {
            assertThat(program.getManifest()
                            .getAttributes("reactor/netty/http/client/")
                            .getValue("Implementation-Version"))
                    .isEqualTo(HttpClient.class.getPackage().getImplementationVersion())
                    .isNotNull();
        }
    }

    /** Without it, Netty uses the transport that every system has. */
    @Test
    void it_has_the_transport_of_linux_for_both_processors() throws IOException {
        try (JarFile program = program()) {
            for (String processor : List.of("x86_64", "aarch_64")) {
                assertThat(program.getEntry(
                                "META-INF/native/libnetty_transport_native_epoll_%s.so".formatted(processor)))
                        .as(processor)
                        .isNotNull();
            }
        }
    }

    @Test
    void it_keeps_the_licences_of_its_dependencies() throws IOException {
        try (JarFile program = program()) {
            for (File file : dependencies(program)) {
                assertKeepsLicences(program, file);
            }
        }
    }

    private static void assertKeepsLicences(JarFile program, File file) throws IOException {
        try (JarFile jar = new JarFile(file)) {
            List<JarEntry> licences = jar.stream()
                    .filter(entry -> entry.getName().matches("(?i)META-INF/(LICENSE|NOTICE)(\\.\\w+)?"))
                    .toList();
            for (JarEntry licence : licences) {
                JarEntry merged = program.stream()
                        .filter(entry -> entry.getName().equalsIgnoreCase(licence.getName()))
                        .findFirst()
                        .orElseThrow();
                assertThat(withoutBlanks(read(program, merged)).contains(withoutBlanks(read(jar, licence))))
                        .as("%s of %s", licence, file.getName())
                        .isTrue();
            }
        }
    }

    private static String withoutBlanks(String text) {
        return text.replaceAll("\\s+", "");
    }
}

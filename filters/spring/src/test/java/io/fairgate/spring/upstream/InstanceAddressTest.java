package io.fairgate.spring.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InstanceAddressTest {

    @ParameterizedTest
    @CsvSource(nullValues = "-", textBlock = """
            http://10.0.0.1:9000, -, 10.0.0.1:9000, 10.0.0.1:9000, http://10.0.0.1:9000
            http://10.0.0.1, -, 10.0.0.1:80, 10.0.0.1, http://10.0.0.1
            https://orders.test, -, orders.test:443, orders.test, https://orders.test
            wss://orders.test:8443, -, orders.test:8443, orders.test:8443, wss://orders.test:8443
            http://[::1]:9000, -, [::1]:9000, [::1]:9000, http://[::1]:9000
            http://orders.test:9000, 10.0.0.2, 10.0.0.2:9000, orders.test:9000, http://10.0.0.2:9000
            http://orders.test, 10.0.0.2, 10.0.0.2:80, orders.test, http://10.0.0.2
            http://orders.test:9000, ::1, [0:0:0:0:0:0:0:1]:9000, orders.test:9000, http://[0:0:0:0:0:0:0:1]:9000
            """)
    void its_name_its_host_and_the_beginning_of_its_uris(
            String uri, @Nullable String ip, String name, String authority, String base) throws UnknownHostException {
        InstanceAddress instance = new InstanceAddress(URI.create(uri), ip == null ? null : InetAddress.getByName(ip));

        assertThat(instance).hasToString(name);
        assertThat(instance.authority()).isEqualTo(authority);
        assertThat(instance.base()).hasToString(base);
    }

    @ParameterizedTest
    @CsvSource(nullValues = "-", textBlock = """
            http://10.0.0.1:9000, -, true, 10.0.0.1
            http://[::1]:9000, -, true, ::1
            http://orders.test:9000, -, false, orders.test
            http://orders.test:9000, 10.0.0.2, true, orders.test
            """)
    void the_address_to_connect_to_has_the_name_of_the_host(
            String uri, @Nullable String ip, boolean isResolved, String host) throws UnknownHostException {
        InetSocketAddress address =
                new InstanceAddress(URI.create(uri), ip == null ? null : InetAddress.getByName(ip)).socketAddress();

        assertThat(address.getPort()).isEqualTo(9000);
        assertThat(!address.isUnresolved()).isEqualTo(isResolved);
        assertThat(address.getHostString()).isEqualTo(host);
        if (ip != null) {
            assertThat(address.getAddress().getHostAddress()).isEqualTo(ip);
        }
    }
}

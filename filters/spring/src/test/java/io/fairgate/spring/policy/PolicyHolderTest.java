package io.fairgate.spring.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.policy.Cidr;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.Policy;
import io.fairgate.spring.policy.PolicyParticipant.Order;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PolicyHolderTest {

    private final Policy first = policy("X-First");
    private final Policy next = policy("X-Next");
    private final PolicyHolder holder = new PolicyHolder(first);
    private final List<String> steps = new ArrayList<>();

    private static Policy policy(String header) {
        return new Policy(
                List.of(new IdentitySource.Header(header, List.of(Cidr.parse("127.0.0.1")))), Map.of(), null, Map.of());
    }

    private final class Participant implements PolicyParticipant {
        private final Order order;

        Participant(Order order) {
            this.order = order;
        }

        @Override
        public Order order() {
            return order;
        }

        @Override
        public void prepare(Policy policy) {
            note("prepare", order);
        }

        @Override
        public void rollBack() {
            note("roll back", order);
        }

        @Override
        public void commit(Policy policy) {
            note("commit", order);
        }

        @Override
        public void inForce() {
            assertThat(holder.current()).as("when all have committed").isSameAs(next);
            steps.add("in force " + order);
        }
    }

    private void note(String step, Order order) {
        assertThat(holder.current()).as("until all have committed").isSameAs(first);
        steps.add(step + " " + order);
    }

    @Test
    void participants_prepare_and_commit_in_their_order_whatever_order_they_were_added_in() {
        holder.add(new Participant(Order.IDENTIFICATION));
        holder.add(new Participant(Order.POOLS));
        holder.add(new Participant(Order.METERS));
        holder.replace(next, () -> steps.add("routes"));
        assertThat(steps)
                .containsExactly(
                        "prepare METERS",
                        "prepare POOLS",
                        "prepare IDENTIFICATION",
                        "routes",
                        "commit METERS",
                        "commit POOLS",
                        "commit IDENTIFICATION",
                        "in force METERS",
                        "in force POOLS",
                        "in force IDENTIFICATION");
        assertThat(holder.current()).isSameAs(next);
    }

    @Test
    void a_policy_that_is_refused_before_the_first_commit_is_rolled_back_by_all_and_changes_nothing() {
        holder.add(new Participant(Order.POOLS));
        holder.add(new Participant(Order.QUOTAS));
        assertThatThrownBy(() -> holder.replace(next, () -> {
                    throw new IllegalArgumentException("routes");
                }))
                .hasMessage("routes");
        assertThat(steps).containsExactly("prepare POOLS", "prepare QUOTAS", "roll back POOLS", "roll back QUOTAS");
        assertThat(holder.current()).isSameAs(first);
    }
}

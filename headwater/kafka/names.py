"""The names of client properties: Java's, librdkafka's, and where one thing has two names."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


RENAMED = {
    # Java's name: librdkafka's name
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.request.size": "message.max.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
}

SHARED = _words(
    """
    acks allow.auto.create.topics auto.commit.interval.ms auto.offset.reset batch.size bootstrap.servers check.crcs
    client.dns.lookup client.id client.rack compression.type connections.max.idle.ms delivery.timeout.ms
    enable.auto.commit enable.idempotence fetch.max.bytes fetch.min.bytes group.id group.instance.id group.protocol
    group.remote.assignor heartbeat.interval.ms isolation.level linger.ms max.in.flight.requests.per.connection
    max.partition.fetch.bytes max.poll.interval.ms metadata.max.age.ms metadata.recovery.rebootstrap.trigger.ms
    metadata.recovery.strategy partition.assignment.strategy reconnect.backoff.max.ms reconnect.backoff.ms
    request.timeout.ms retries retry.backoff.max.ms retry.backoff.ms sasl.kerberos.kinit.cmd
    sasl.kerberos.min.time.before.relogin sasl.kerberos.service.name sasl.mechanism
    sasl.oauthbearer.token.endpoint.url security.protocol session.timeout.ms
    socket.connection.setup.timeout.ms ssl.cipher.suites ssl.endpoint.identification.algorithm ssl.key.password
    ssl.keystore.location ssl.keystore.password transaction.timeout.ms transactional.id
    """
)
"""What both call the same."""

JAVA_ONLY = _words(
    """
    auto.include.jmx.reporter buffer.memory default.api.timeout.ms enable.metrics.push exclude.internal.topics
    interceptor.classes key.deserializer key.serializer max.block.ms max.poll.records metadata.max.idle.ms
    metric.reporters metrics.num.samples metrics.recording.level metrics.sample.window.ms
    partitioner.adaptive.partitioning.enable partitioner.availability.timeout.ms partitioner.class
    partitioner.ignore.keys sasl.client.callback.handler.class sasl.jaas.config sasl.kerberos.ticket.renew.jitter
    sasl.kerberos.ticket.renew.window.factor sasl.login.callback.handler.class sasl.login.class
    sasl.login.connect.timeout.ms sasl.login.read.timeout.ms sasl.login.refresh.buffer.seconds
    sasl.login.refresh.min.period.seconds sasl.login.refresh.window.factor sasl.login.refresh.window.jitter
    sasl.login.retry.backoff.max.ms sasl.login.retry.backoff.ms security.providers
    socket.connection.setup.timeout.max.ms ssl.enabled.protocols ssl.engine.factory.class ssl.keymanager.algorithm
    ssl.keystore.certificate.chain ssl.keystore.key ssl.keystore.type ssl.protocol ssl.provider
    ssl.secure.random.implementation ssl.trustmanager.algorithm ssl.truststore.certificates ssl.truststore.location
    ssl.truststore.password ssl.truststore.type transaction.two.phase.commit.enable value.deserializer
    value.serializer
    client.id.prefix commit.offsets.on.checkpoint flink.partition-discovery.interval-millis
    partition.discovery.interval.ms register.consumer.metrics
    """
)
"""What librdkafka has no use for, or has under other names and forms; the last lines are Flink's own."""

RDKAFKA_ONLY = _words(
    """
    api.version.fallback.ms api.version.request api.version.request.timeout.ms batch.num.messages
    broker.address.family broker.address.ttl broker.version.fallback compression.codec compression.level
    coordinator.query.interval.ms debug enable.auto.offset.store enable.gapless.guarantee enable.partition.eof
    enable.random.seed enable.sasl.oauthbearer.unsecure.jwt enable.sparse.connections
    enable.ssl.certificate.verification fetch.error.backoff.ms fetch.message.max.bytes fetch.queue.backoff.ms
    fetch.wait.max.ms group.protocol.type https.ca.location https.ca.pem log.connection.close log.queue
    log.thread.name log_level max.in.flight message.copy.max.bytes message.max.bytes message.send.max.retries
    message.timeout.ms metadata.broker.list metadata.request.timeout.ms partitioner plugin.library.paths
    queue.buffering.backpressure.threshold queue.buffering.max.kbytes queue.buffering.max.messages
    queue.buffering.max.ms queued.max.messages.kbytes queued.min.messages receive.message.max.bytes
    reconnect.backoff.jitter.ms request.required.acks sasl.kerberos.keytab sasl.kerberos.principal sasl.mechanisms
    sasl.oauthbearer.client.id sasl.oauthbearer.client.secret sasl.oauthbearer.config sasl.oauthbearer.extensions
    sasl.oauthbearer.grant.type sasl.oauthbearer.method sasl.oauthbearer.scope sasl.password sasl.username
    socket.keepalive.enable socket.max.fails socket.nagle.disable socket.receive.buffer.bytes
    socket.send.buffer.bytes socket.timeout.ms ssl.ca.certificate.stores ssl.ca.location ssl.ca.pem
    ssl.certificate.location ssl.certificate.pem ssl.crl.location ssl.curves.list ssl.engine.id
    ssl.engine.location ssl.key.location ssl.key.pem ssl.providers ssl.sigalgs.list statistics.interval.ms
    sticky.partitioning.linger.ms topic.blacklist topic.metadata.propagation.max.ms
    topic.metadata.refresh.fast.cnt topic.metadata.refresh.fast.interval.ms topic.metadata.refresh.interval.ms
    topic.metadata.refresh.sparse
    """
)
"""What Java has no use for, or has under other names and forms."""

PRODUCER_ONLY = _words(
    """
    acks batch.num.messages batch.size compression.codec compression.level compression.type delivery.timeout.ms
    enable.gapless.guarantee enable.idempotence linger.ms message.send.max.retries message.timeout.ms partitioner
    queue.buffering.max.kbytes queue.buffering.max.messages queue.buffering.max.ms request.required.acks retries
    sticky.partitioning.linger.ms transaction.timeout.ms transactional.id
    """
)
CONSUMER_ONLY = _words(
    """
    auto.commit.interval.ms auto.offset.reset check.crcs enable.auto.commit enable.auto.offset.store
    enable.partition.eof fetch.error.backoff.ms fetch.max.bytes fetch.message.max.bytes fetch.min.bytes
    fetch.queue.backoff.ms fetch.wait.max.ms group.id group.instance.id group.protocol group.protocol.type
    group.remote.assignor heartbeat.interval.ms isolation.level max.partition.fetch.bytes max.poll.interval.ms
    partition.assignment.strategy queued.max.messages.kbytes queued.min.messages session.timeout.ms
    """
)
"""What the other kind of client takes, too, but complains of in its log."""

SPARK_DECIDES = _words(
    """
    auto.offset.reset enable.auto.commit group.id group.instance.id interceptor.classes key.deserializer
    value.deserializer key.serializer value.serializer transactional.id client.id
    """
)
"""What Spark's reader sets itself and refuses from others, or what two readers may not share."""

JAVA_STORES = _words(
    """
    ssl.truststore.type ssl.truststore.location ssl.truststore.password ssl.truststore.certificates
    ssl.keystore.type ssl.keystore.location ssl.keystore.password ssl.keystore.key ssl.keystore.certificate.chain
    ssl.key.password
    """
)
"""How Java is told of certificates and keys."""

KNOWN = frozenset(RENAMED) | SHARED | JAVA_ONLY | RDKAFKA_ONLY
"""Every name that either side understands: where hints for a misspelt one come from."""

_SECRET_PARTS = (
    *("password", "secret", "passphrase", "jaas.config", "oauthbearer.config"),
    *("key.pem", "keystore.key", "private.key"),
)


def is_secret(name: str) -> bool:
    """True if the value of this property must never be shown: `ssl.key.password`, `sasl.jaas.config`."""
    return any(part in name.lower() for part in _SECRET_PARTS)

"""Properties under either client's names reach both clients. Oracles: librdkafka itself, openssl, the texts below."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from confluent_kafka import KafkaException, Producer

from headwater.errors import OptionError
from headwater.kafka import names
from headwater.kafka.clients import producer
from headwater.kafka.properties import Config, client_config, cluster_of, java_config, scrubbed
from headwater.options import Secret
from headwater.services.certificates import Certificates, make_certificates

HERE = {"bootstrap.servers": "localhost:9092"}
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


def refusal(given: dict[str, str]) -> OptionError:
    with pytest.raises(OptionError) as caught:
        client_config(HERE | given)
    return caught.value


def is_known(name: str) -> bool:
    """True if librdkafka has a property of that name."""
    try:
        Producer({name: "\x01"})
    except KafkaException as problem:
        return "No such configuration property" not in problem.args[0].str()
    except TypeError:
        return True
    return True


def test_the_names_we_pass_on_are_names_librdkafka_knows() -> None:
    passed = names.SHARED | names.RDKAFKA_ONLY | set(names.RENAMED.values())
    assert sorted(name for name in passed if not is_known(name)) == []


def test_the_names_that_only_java_has_are_not_passed_on() -> None:
    assert client_config(HERE | dict.fromkeys(["max.block.ms", "key.deserializer"], "1")) == HERE


def test_java_names_become_librdkafkas() -> None:
    given = {
        "fetch.max.wait.ms": "7",
        "max.request.size": "9",
        "send.buffer.bytes": "-1",
        "auto.offset.reset": "none",
        "ssl.endpoint.identification.algorithm": "",
        "partition.assignment.strategy": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
    }
    assert client_config(HERE | given) == HERE | {
        "fetch.wait.max.ms": "7",
        "message.max.bytes": "9",
        "socket.send.buffer.bytes": "0",
        "auto.offset.reset": "error",
        "ssl.endpoint.identification.algorithm": "none",
        "partition.assignment.strategy": "cooperative-sticky",
    }


@pytest.mark.parametrize(
    ("jaas", "user", "password"),
    [
        (f'{SCRAM} username="ann" password="b";', "ann", "b"),
        (f"{SCRAM} username='ann' password='b c';", "ann", "b c"),
        (f'{SCRAM}\n  username="ann"\n  password="quote \\" and \\\\";', "ann", 'quote " and \\'),
        (f'{SCRAM} password="a=b;c" username=ann;', "ann", "a=b;c"),
    ],
)
def test_a_jaas_login_becomes_user_and_password_and_back(jaas: str, user: str, password: str) -> None:
    config = client_config(HERE | {"sasl.mechanism": "SCRAM-SHA-512", "sasl.jaas.config": jaas})
    assert (config["sasl.username"], config["sasl.password"]) == (user, password)
    back = java_config(HERE | {"sasl.mechanism": "PLAIN", "sasl.username": user, "sasl.password": password})
    assert back["sasl.jaas.config"].startswith(
        "org.apache.kafka.common.security.plain.PlainLoginModule required "
    )
    again = client_config(HERE | {"sasl.jaas.config": back["sasl.jaas.config"]})
    assert (again["sasl.username"], again["sasl.password"]) == (user, password)


def test_a_jaas_login_of_another_kind_is_refused_without_showing_it() -> None:
    error = refusal({"sasl.jaas.config": 'com.sun.Krb5LoginModule required keyTab="hidden";'})
    assert error.message == "'properties.sasl.jaas.config' cannot be understood"
    assert "hidden" not in f"{error.detail}{error.hint}"


def test_pem_texts_of_java_become_librdkafkas_and_back(certificates: Certificates) -> None:
    authority, key = certificates.authority.read_text(), certificates.client_key.read_text()
    chain = certificates.client_certificate.read_text()
    java = {
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": authority.replace("\n", " "),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.key": key.replace("\n", "\\n"),
        "ssl.keystore.certificate.chain": chain,
    }
    config = client_config(HERE | java)
    assert config["ssl.ca.pem"] == authority
    assert config["ssl.key.pem"] == key
    rdkafka = HERE | {
        "ssl.ca.location": str(certificates.authority),
        "ssl.key.location": str(certificates.client_key),
        "ssl.certificate.location": str(certificates.client_certificate),
    }
    back = java_config(rdkafka)
    assert back["ssl.truststore.certificates"] == authority
    assert back["ssl.keystore.key"] == key
    assert [name for name in back if "location" in name] == []


def test_stores_are_told_apart_by_what_is_in_them(certificates: Certificates, tmp_path: Path) -> None:
    pkcs12 = tmp_path / "client.p12"
    subprocess.run(
        [
            *("openssl", "pkcs12", "-export", "-passout", "pass:pw", "-out", str(pkcs12)),
            "-in",
            str(certificates.client),
        ],
        check=True,
    )
    jks = tmp_path / "client.jks"
    jks.write_bytes(b"\xfe\xed\xfe\xed\x00\x00\x00\x02")
    given = {"ssl.keystore.location": str(pkcs12), "ssl.keystore.password": "pw"}
    assert client_config(HERE | given) == HERE | given
    assert java_config(HERE | given)["ssl.keystore.type"] == "PKCS12"
    both = client_config(HERE | {"ssl.keystore.location": str(certificates.client)})
    assert both["ssl.key.location"] == both["ssl.certificate.location"] == str(certificates.client)
    assert "ssl.keystore.location" not in both
    error = refusal({"ssl.keystore.location": str(jks)})
    assert error.message == f"the keystore '{jks}' is a JKS file, which cannot be read here"
    assert error.hint.startswith("Convert it: keytool -importkeystore")
    error = refusal({"ssl.truststore.location": str(pkcs12)})
    assert f"openssl pkcs12 -in {pkcs12} -nokeys -out ca.pem" in error.hint
    assert refusal({"ssl.truststore.location": "/nowhere.pem"}).detail == "No such file or directory."


def test_a_key_java_cannot_read_is_refused(tmp_path: Path) -> None:
    old = tmp_path / "old.key"
    old.write_text("-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n")
    with pytest.raises(OptionError, match="a form that Java's client does not read") as caught:
        java_config(HERE | {"ssl.key.location": str(old), "ssl.certificate.location": str(old)})
    assert "openssl pkcs8 -topk8" in caught.value.hint


def test_an_unknown_name_is_told_the_nearest() -> None:
    with pytest.raises(OptionError) as caught:
        producer(HERE | {"compresion.type": "lz4"})
    assert caught.value.message == "kafka's clients have no property 'compresion.type'"
    assert caught.value.hint == "Did you mean 'properties.compression.type'?"


def test_servers_are_needed() -> None:
    with pytest.raises(OptionError, match=r"there is no 'properties\.bootstrap\.servers'"):
        client_config({"group.id": "a"})


def test_what_spark_decides_is_left_out_for_java() -> None:
    given = {
        "group.id": "a",
        "auto.offset.reset": "earliest",
        "isolation.level": "read_committed",
        "log_level": "1",
    }
    assert java_config(HERE | given) == HERE | {"isolation.level": "read_committed"}


def test_a_cluster_has_one_name() -> None:
    assert (
        cluster_of({"bootstrap.servers": "b:2, A:1"})
        == cluster_of({"bootstrap.servers": "a:1,b:2"})
        == "kafka-a:1,b:2"
    )
    hidden = cluster_of({"bootstrap.servers": Secret("vault.internal:1")})
    assert "vault" not in hidden and hidden == cluster_of({"bootstrap.servers": Secret("vault.internal:1")})


def test_secrets_are_used_and_never_shown() -> None:
    given = {"sasl.username": "ann", "sasl.password": Secret("geheim"), "ssl.key.password": "geheimer"}
    config = client_config(HERE | given)
    assert config["sasl.password"] == "geheim" and type(config["sasl.password"]) is str
    assert "geheim" not in f"{config} {config!r} {java_config(HERE | given)}"
    assert isinstance(config, Config)
    assert scrubbed("wrong: geheimer, geheim", HERE | given) == "wrong: ***, ***"
    server = {"bootstrap.servers": Secret("vault.internal:1")}
    assert scrubbed("sasl://vault.internal:1/bootstrap", server) == "sasl://***/bootstrap"

"""The address guard's decision: by the address itself, whatever the name was."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from filbert.errors import UserError
from filbert.rules.addresses import authority_of, judge_address, kind_of, parse_rules

NOTHING = parse_rules((), (), ())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("8.8.8.8", "public"),
        ("2606:4700::1111", "public"),
        ("127.0.0.1", "loopback"),
        ("127.9.9.9", "loopback"),
        ("::1", "loopback"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:10.0.0.1", "private"),
        ("::127.0.0.1", "loopback"),
        ("64:ff9b::7f00:1", "loopback"),
        ("2002:7f00:1::", "loopback"),
        ("10.1.2.3", "private"),
        ("172.31.0.1", "private"),
        ("172.32.0.1", "public"),
        ("192.168.1.1", "private"),
        ("fd12::1", "private"),
        ("fe80::1", "link-local"),
        ("169.254.1.1", "link-local"),
        ("169.254.169.254", "metadata"),
        ("::ffff:169.254.169.254", "metadata"),
        ("fd00:ec2::254", "metadata"),
        ("100.64.0.1", "shared"),
        ("0.0.0.0", "this-network"),
        ("0.1.2.3", "this-network"),
        ("::", "this-network"),
        ("224.0.0.1", "multicast"),
        ("ff02::1", "multicast"),
        ("255.255.255.255", "reserved"),
        ("198.18.0.1", "reserved"),
        ("2001:db8::1", "reserved"),
        ("::ffff:0:127.0.0.1", "reserved"),
        ("4000::1", "reserved"),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    """Each special range has its name; only public addresses pass without a rule."""
    assert kind_of(ip_address(text)) == kind
    assert judge_address(text, NOTHING).accepted == (kind == "public")


@pytest.mark.parametrize(
    ("allow", "text", "authority", "accepted"),
    [
        (("loopback",), "127.0.0.1", "", True),
        (("loopback",), "::ffff:127.0.0.1", "", True),
        (("loopback",), "10.0.0.1", "", False),
        (("private",), "100.64.0.1", "", True),
        (("private",), "169.254.169.254", "", False),
        (("10.0.0.0/8",), "10.0.0.1", "", True),
        (("10.0.0.7",), "10.0.0.8", "", False),
        (("::1",), "::1", "", True),
        (("a.test:8080",), "127.0.0.1", "a.test:8080", True),
        (("a.test:8080",), "127.0.0.1", "a.test:8081", False),
        (("[::1]:80",), "::1", "[::1]:80", True),
        ((), "127.0.0.1", "a.test:80", False),
    ],
)
def test_allow(allow: tuple[str, ...], text: str, authority: str, accepted: bool) -> None:
    """What is named passes: networks, words, and exactly one host and port."""
    rules = parse_rules(allow, (), ())
    assert judge_address(text, rules, authority).accepted == accepted


def test_deny_is_stronger_than_everything() -> None:
    """A denied address is refused though a seed named it, and though it is public."""
    rules = parse_rules(("a.test:80", "loopback"), ("127.0.0.0/8", "8.8.8.8"), ())
    assert not judge_address("127.0.0.1", rules, "a.test:80").accepted
    assert not judge_address("8.8.8.8", rules).accepted
    assert judge_address("::1", rules).accepted


def test_only_names_all_that_pass() -> None:
    """With `only`, what it names passes, private or not, and nothing else does."""
    rules = parse_rules((), (), ("10.0.0.0/8", "1.2.3.4"))
    got = [judge_address(text, rules).accepted for text in ("10.9.9.9", "1.2.3.4", "8.8.8.8")]
    assert got == [True, True, False]


def test_verdicts_say_why() -> None:
    """A refusal names the kind of address or the entry that refused."""
    assert judge_address("10.0.0.1", NOTHING).reason == "private"
    rules = parse_rules((), ("10.0.0.0/8",), ())
    assert judge_address("10.0.0.1", rules).rule == "10.0.0.0/8"
    assert not judge_address("no address", NOTHING).accepted


@pytest.mark.parametrize("bad", ["10.0.0.0/33", "example.org", "lan", "", "1.2.3"])
def test_a_wrong_entry_is_a_user_error(bad: str) -> None:
    """An entry that is no address says so, with what would be right."""
    with pytest.raises(UserError, match="is no address"):
        parse_rules((bad,), (), ())


def test_authorities() -> None:
    """Only host:port is an authority; an IPv6 address is not."""
    assert authority_of("A.test:080") == "a.test:80"
    assert authority_of("::1") is None
    assert authority_of("a.test") is None

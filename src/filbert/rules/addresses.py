"""Which addresses may be connected to: the decision of the address guard.

A web page must not make the crawler talk to machines that only the crawler can reach. Rules, in
order; the first that applies decides:
1. `deny_addresses` refuses, whoever named the host.
2. `only_addresses`, if there are any, lets through what it names and refuses the rest.
3. Public addresses pass.
4. `allow_addresses` lets through what it names; a host and port that a seed named pass.
5. Everything else is refused.
The address is judged, never the name: an IPv4 address inside an IPv6 one (mapped, NAT64, 6to4) is
taken out first. Sources: the IANA special-purpose registries (RFC 6890), RFC 6598 (shared), RFC
4193 (unique local), RFC 6052 (NAT64), RFC 3056 (6to4); Nutch's IP filter rules of protocol-okhttp.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING

from filbert.errors import UserError
from filbert.model.records import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["AddressRules", "authority_of", "judge_address", "kind_of", "parse_rules", "unwrap"]

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    # Cloud metadata services answer there: 169.254.169.254 is link-local, these are the others.
    ("metadata", ("169.254.169.254/32", "169.254.170.2/32", "100.100.100.200/32", "fd00:ec2::/32")),
    ("this-network", ("0.0.0.0/8", "::/128")),
    ("loopback", ("127.0.0.0/8", "::1/128")),
    ("private", ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10")),
    ("link-local", ("169.254.0.0/16", "fe80::/10")),
    ("shared", ("100.64.0.0/10",)),
    ("multicast", ("224.0.0.0/4", "ff00::/8")),
    (
        "reserved",
        (
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "240.0.0.0/4",
            "64:ff9b:1::/48",
            "100::/64",
            "2001::/23",
            "2001:db8::/32",
            "3fff::/20",
            "5f00::/16",
        ),
    ),
)
_NETWORKS: tuple[tuple[str, tuple[Network, ...]], ...] = tuple(
    (kind, tuple(ip_network(text) for text in texts)) for kind, texts in _KINDS
)
# The words of Nutch's filter and of ours, as the kinds they stand for.
_WORDS = {
    "loopback": ("loopback",),
    "localhost": ("loopback",),
    "private": ("private", "shared"),
    "sitelocal": ("private",),
    "link-local": ("link-local",),
    "shared": ("shared",),
    "multicast": ("multicast",),
    "reserved": ("reserved",),
    "metadata": ("metadata",),
}
_NAT64 = IPv6Network("64:ff9b::/96")
# What IANA has given to anybody; the rest of IPv6 is special or nobody's (RFC 4291 section 2.4).
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[^:/@\s]+):([0-9]{1,5})", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressRules:
    """Addresses by rule: networks, and kinds by name.

    Attributes:
        allow: Let through though not public.
        deny: Refused.
        only: If not empty, the only ones let through.
        hosts: `host:port` that are let through, as they stand in URLs.
    """

    allow: tuple[Network | str, ...] = ()
    deny: tuple[Network | str, ...] = ()
    only: tuple[Network | str, ...] = ()
    hosts: frozenset[str] = frozenset()


def parse_rules(allow: Iterable[str], deny: Iterable[str], only: Iterable[str]) -> AddressRules:
    """Return the rules that settings write.

    Raises:
        UserError: An entry is no address, CIDR, known word, or (in `allow`) host:port.
    """
    allowed = tuple(allow)
    pairs = frozenset(found for found in map(authority_of, allowed) if found)
    networks = (entry for entry in allowed if not authority_of(entry))
    return AddressRules(
        allow=_entries("http.allow_addresses", networks),
        deny=_entries("http.deny_addresses", deny),
        only=_entries("http.only_addresses", only),
        hosts=pairs,
    )


def authority_of(entry: str) -> str | None:
    """Return `host:port` in lower case if that is what an entry is; None if not."""
    try:
        ip_network(entry.strip(), strict=False)
    except ValueError:
        found = _AUTHORITY.fullmatch(entry.strip())
        return f"{found[1].lower()}:{int(found[2])}" if found else None
    return None


def _entries(setting: str, texts: Iterable[str]) -> tuple[Network | str, ...]:
    found: list[Network | str] = []
    for text in texts:
        word = text.strip().lower()
        if word in _WORDS:
            found.extend(_WORDS[word])
            continue
        try:
            found.append(ip_network(word, strict=False))
        except ValueError as error:
            raise UserError(
                f"{setting}: {text!r} is no address",
                hint="Write an IP (10.1.2.3), a network (10.0.0.0/8, fc00::/7), or one of "
                f"{', '.join(sorted(_WORDS))}.",
            ) from error
    return tuple(found)


def unwrap(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address carries, or the address itself."""
    if isinstance(address, IPv4Address):
        return address
    carried = address.ipv4_mapped or address.sixtofour
    if carried is None and address.teredo is not None:
        carried = address.teredo[1]
    # NAT64, and IPv4-compatible (RFC 4291 section 2.5.5.1)
    if carried is None and (address in _NAT64 or 1 < int(address) < 1 << 32):
        carried = IPv4Address(int(address) & 0xFFFFFFFF)
    return carried or address


def kind_of(address: Address) -> str:
    """Return what an address is: public, or the name of its special range."""
    plain = unwrap(address)
    for kind, networks in _NETWORKS:
        for network in networks:
            if plain.version == network.version and plain in network:
                return kind
    if plain.version == 6 and plain not in _GLOBAL_UNICAST:
        return "reserved"
    return "public"


def judge_address(text: str, rules: AddressRules, authority: str = "") -> Verdict:
    """Say whether an address may be connected to.

    Args:
        text: The address, as the resolver gave it; a zone (`%eth0`) is ignored.
        rules: What the settings and the seeds say.
        authority: `host:port` of the URL on whose behalf, in lower case.
    """
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return Verdict(accepted=False, reason="no_address", rule=text)
    kind = kind_of(address)
    if rule := _named_in(rules.deny, address, kind):
        return Verdict(accepted=False, reason="denied", rule=rule)
    if rules.only:
        rule = _named_in(rules.only, address, kind)
        return Verdict(accepted=bool(rule), reason=kind if rule else "not_in_only", rule=rule)
    if kind == "public" or authority in rules.hosts:
        return Verdict(accepted=True, reason=kind, rule="" if kind == "public" else authority)
    rule = _named_in(rules.allow, address, kind)
    return Verdict(accepted=bool(rule), reason=kind, rule=rule)


def _named_in(entries: tuple[Network | str, ...], address: Address, kind: str) -> str:
    """Return the entry that names an address, as text; empty if none does."""
    plain = unwrap(address)
    for entry in entries:
        if isinstance(entry, str):
            if entry == kind:
                return entry
        elif any(a.version == entry.version and a in entry for a in (plain, address)):
            return str(entry)
    return ""

/**
 * Which names a client may call us by (json-rpc-errors.md#host-allowlist): the defence against DNS rebinding.
 */
export type HostVerdict = "allowed" | "refused" | "malformed";

/** Judges a Host header. The list holds host names without ports, or `*` (also spelt `all`), or nothing. */
export function createHostAllowlist(hosts: readonly string[]): (host: string | undefined) => HostVerdict {
  if (hosts.some((host) => host === "*" || host === "all")) return () => "allowed";
  const allowed = new Set(hosts.map(comparable));
  /** The header is almost always the same text, and reading it costs more than the rest of the check. */
  let last: { readonly header: string; readonly verdict: HostVerdict } | undefined;

  function judge(header: string): HostVerdict {
    const name = hostName(header);
    if (name === undefined) return "malformed";
    return allowed.has(comparable(name)) ? "allowed" : "refused";
  }

  return (header) => {
    if (header === undefined || header === "") return "refused";
    if (last?.header !== header) last = { header, verdict: judge(header) };
    return last.verdict;
  };
}

const HOST_HEADER = /^(\[[0-9A-Fa-f:.]+\]|[^:[\]/\s]+)(?::([0-9]{1,5}))?$/;
const HIGHEST_PORT = 65_535;

/** The host of a Host header; undefined when it is not `host`, `host:port` or `[address]:port`. */
export function hostName(header: string): string | undefined {
  const [, name, port = "0"] = HOST_HEADER.exec(header) ?? [];
  return Number(port) <= HIGHEST_PORT ? name : undefined;
}

/** Upper and lower case are the same, and so is an IPv6 address with and without its brackets. */
function comparable(host: string): string {
  return host.toLowerCase().replace(/^\[(.*)\]$/, "$1");
}

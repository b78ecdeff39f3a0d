/** The result for a Host header (json-rpc-errors.md#host-allowlist); the allow-list prevents DNS rebinding. */
export type HostCheck = "allowed" | "refused" | "malformed";

/** Checks Host headers. The list holds host names without ports, or `*` (also spelt `all`), or nothing. */
export function createHostAllowlist(hosts: readonly string[]): (host: string | undefined) => HostCheck {
  if (hosts.some((host) => host === "*" || host === "all")) return () => "allowed";
  const allowed = new Set(hosts.map(comparable));
  /** Caches the last result: the header is almost always the same text, and parsing it is the costly part. */
  let last: { readonly header: string; readonly result: HostCheck } | undefined;

  function check(header: string): HostCheck {
    const name = hostName(header);
    if (name === undefined) return "malformed";
    return allowed.has(comparable(name)) ? "allowed" : "refused";
  }

  return (header) => {
    if (header === undefined || header === "") return "refused";
    if (last?.header !== header) last = { header, result: check(header) };
    return last.result;
  };
}

const HOST_HEADER = /^(\[[0-9A-Fa-f:.]+\]|[^:[\]/\s]+)(?::([0-9]{1,5}))?$/;
const HIGHEST_PORT = 65_535;

/** The host of a Host header; undefined when it is not `host`, `host:port` or `[address]:port`. */
export function hostName(header: string): string | undefined {
  const [, name, port = "0"] = HOST_HEADER.exec(header) ?? [];
  return Number(port) <= HIGHEST_PORT ? name : undefined;
}

/** Ignores upper and lower case, and the brackets of an IPv6 address. */
function comparable(host: string): string {
  return host.toLowerCase().replace(/^\[(.*)\]$/, "$1");
}

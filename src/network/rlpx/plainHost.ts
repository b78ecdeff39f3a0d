/** Turns an IPv4-mapped address of a dual-stack socket into plain IPv4. */
export function plainHost(host: string): string {
  return host.startsWith("::ffff:") ? host.slice("::ffff:".length) : host;
}

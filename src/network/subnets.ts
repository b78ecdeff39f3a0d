import { BlockList, isIPv6 } from "node:net";

/** Tells whether a host is in one of these subnets, as --net-restrict has them; every host is where none is given. */
export function subnetCheck(subnets: readonly string[]): (host: string) => boolean {
  if (subnets.length === 0) return () => true;
  const inside = new BlockList();
  for (const subnet of subnets) {
    const [address = "", bits = ""] = subnet.split("/");
    inside.addSubnet(address, Number(bits), isIPv6(address) ? "ipv6" : "ipv4");
  }
  return (host) => inside.check(host, isIPv6(host) ? "ipv6" : "ipv4");
}

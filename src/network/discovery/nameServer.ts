import { lookup, Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import type { NameServer } from "./dnsLists.ts";

/** The system's name servers, or the one at `host`: an address, with or without a port, or a name. */
export function openNameServer(host: string | undefined): NameServer {
  const resolver = new Resolver({ timeout: 3000, tries: 2 });
  const isReady = host === undefined ? Promise.resolve() : useServer(resolver, host);
  // The request reports the error.
  isReady.catch(() => undefined);
  return {
    async texts(name) {
      await isReady;
      return (await resolver.resolveTxt(name)).map((pieces) => pieces.join(""));
    },
    close: () => resolver.cancel(),
  };
}

async function useServer(resolver: Resolver, host: string): Promise<void> {
  const isAddress = isIP(host.replace(/^\[(.*)\](:\d+)?$/, "$1").replace(/^([\d.]+):\d+$/, "$1")) !== 0;
  resolver.setServers([isAddress ? host : (await lookup(host)).address]);
}

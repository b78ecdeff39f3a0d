import type { Capability } from "./hello.ts";

/** Message ids below this one belong to the base protocol. */
export const FIRST_PROTOCOL_ID = 0x10;

/** A capability with its number of message ids. */
export interface Spoken extends Capability {
  readonly messageCodes: number;
}

/** A negotiated capability; its ids are the `messageCodes` ones from `offset` on. */
export interface Agreed<P extends Spoken> {
  readonly protocol: P;
  readonly offset: number;
}

/**
 * The shared capabilities with their message ids (p2p.md#hello-and-capabilities): for each name the highest version that
 * both ends have, in the order of the names' code units, so IBF comes before eth.
 */
export function agreeCapabilities<P extends Spoken>(
  ours: readonly P[],
  theirs: readonly Capability[],
): readonly Agreed<P>[] {
  const best = new Map<string, P>();
  for (const protocol of ours) {
    const isShared = theirs.some(
      ({ name, version }) => name === protocol.name && version === protocol.version,
    );
    const known = best.get(protocol.name);
    if (isShared && (known === undefined || known.version < protocol.version))
      best.set(protocol.name, protocol);
  }
  let offset = FIRST_PROTOCOL_ID;
  return [...best.values()]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((protocol) => {
      const agreed = { protocol, offset };
      offset += protocol.messageCodes;
      return agreed;
    });
}

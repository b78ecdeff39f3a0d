import type { Endpoint } from "../primitives/endpoint.ts";
import { ok, type Result } from "../primitives/result.ts";
import { type DatagramPort, openDatagramPort } from "./discovery/datagramPort.ts";
import { type Listener, listen } from "./listener.ts";

export interface OpenPorts {
  readonly listener: Listener;
  /** The UDP port; undefined when discovery is off. */
  readonly datagrams: DatagramPort | undefined;
}

/** Number of ports tried when any free one will do. */
const MAX_ATTEMPTS = 10;

/**
 * Opens the same port number for TCP and UDP; port 0 picks any that is free for both. Fails when listening is impossible, or
 * the port is in use.
 */
export async function openPorts(
  { host, port }: Endpoint,
  {
    hasDatagrams,
    openDatagrams = openDatagramPort,
  }: { readonly hasDatagrams: boolean; readonly openDatagrams?: typeof openDatagramPort },
): Promise<Result<OpenPorts, "addressInUse" | "cannotListen">> {
  /** TCP ports whose number is taken for UDP, kept open so that the system picks others. */
  const unusable: Listener[] = [];
  for (;;) {
    const listening = await listen({ host, port });
    const listener = listening.ok ? listening.value : undefined;
    const datagrams =
      listener === undefined || !hasDatagrams
        ? ok(undefined)
        : await openDatagrams({ address: host, port: listener.endpoint.port });
    if (listener !== undefined && !datagrams.ok) unusable.push(listener);
    const mayRetry = port === 0 && !datagrams.ok && datagrams.error.code === "addressInUse";
    if (mayRetry && unusable.length < MAX_ATTEMPTS) continue;
    await Promise.all(unusable.map((one) => one.close()));
    if (!listening.ok) return listening;
    return datagrams.ok ? ok({ listener: listening.value, datagrams: datagrams.value }) : datagrams;
  }
}

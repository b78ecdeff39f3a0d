import { type CodedError, err, fail, ok, type Result } from "../primitives/result.ts";
import type { Block, Body, NamedHeader } from "../types/block.ts";
import { BATCH_BODIES, LEAST_BLOCK_HISTORY } from "./limits.ts";
import type { SyncPeer } from "./ports.ts";
import { emptyBodyOf, type Link, linkHeaders, matchBodies, rootKey } from "./segment.ts";

/**
 * Why a download from a peer failed: no response, invalid data, another chain, or the peer lacks the body of an old block,
 * as a node does that removes them.
 */
export type DownloadErrorCode = "noResponse" | "invalid" | "otherBranch" | "noBody";

/** Downloads at least one and at most `limit` headers that follow `parent`. */
export async function downloadHeaders(
  peer: SyncPeer,
  parent: NamedHeader,
  limit: number,
): Promise<Result<readonly Link[], DownloadErrorCode>> {
  const from = parent.header.number + 1n;
  const missing = (peer.height ?? 0n) - parent.header.number;
  const max = missing < BigInt(limit) ? Math.max(1, Number(missing)) : limit;
  const response = await peer.requestHeaders({ start: { number: from }, max, skip: 0, isReverse: false });
  if (!response.ok) return fail("peer", "noResponse", response.error.message);
  if (response.value.length === 0) return fail("peer", "noResponse", `it has no block ${from}`);
  const links = linkHeaders(parent, response.value);
  if (links.ok) return links;
  const { code, message } = links.error;
  return code === "otherBranch" ? fail("peer", code, message) : fail("peer", "invalid", message);
}

/**
 * Downloads the blocks of these headers, in order, each yielded as soon as its body has arrived; further bodies are
 * requested when they are needed, so that few wait in memory. Ends after an error.
 */
export async function* downloadBlocks(
  peer: SyncPeer,
  links: readonly Link[],
): AsyncGenerator<Result<Block, DownloadErrorCode>> {
  let bodies: ReadonlyMap<string, Body> = new Map();
  for (const [index, { header }] of links.entries()) {
    let body = emptyBodyOf(header) ?? bodies.get(rootKey(header));
    if (body === undefined) {
      const wanted = links
        .slice(index)
        .filter((link) => emptyBodyOf(link.header) === undefined)
        .slice(0, BATCH_BODIES);
      const response = await askBodies(peer, wanted);
      if (!response.ok) {
        yield response;
        return;
      }
      bodies = response.value;
      body = bodies.get(rootKey(header));
      if (body === undefined) {
        yield err(noBody(peer, header.number));
        return;
      }
    }
    yield ok({ header, ...body });
  }
}

/** Downloads the block of one header. */
export async function downloadBlock(peer: SyncPeer, link: Link): Promise<Result<Block, DownloadErrorCode>> {
  const { header } = link;
  const empty = emptyBodyOf(header);
  if (empty !== undefined) return ok({ header, ...empty });
  const response = await askBodies(peer, [link]);
  if (!response.ok) return response;
  const body = response.value.get(rootKey(header));
  return body === undefined ? err(noBody(peer, header.number)) : ok({ header, ...body });
}

async function askBodies(
  peer: SyncPeer,
  wanted: readonly Link[],
): Promise<Result<ReadonlyMap<string, Body>, DownloadErrorCode>> {
  const response = await peer.requestBodies(wanted.map(({ hash }) => hash));
  if (!response.ok) return fail("peer", "noResponse", response.error.message);
  const matched = await matchBodies(wanted, response.value);
  return matched.ok ? matched : fail("peer", "invalid", matched.error.message);
}

/** The error of a peer that returned none of the requested bodies, the first of which is that of block `number`. */
export function noBody({ height = 0n }: SyncPeer, number: bigint): CodedError<DownloadErrorCode> {
  const isOld = number + LEAST_BLOCK_HISTORY < height;
  return {
    code: isOld ? "noBody" : "noResponse",
    fault: "peer",
    message: `it has no body of block ${number}`,
  };
}

import { expectDefined } from "../primitives/assert.ts";
import { equalBytes } from "../primitives/hex.ts";
import { err, fail, ok, type Result } from "../primitives/result.ts";
import type { NamedHeader } from "../types/block.ts";
import type { Header } from "../types/header.ts";
import type { SyncContext } from "./context.ts";
import { type DownloadErrorCode, downloadBlocks, downloadHeaders } from "./download.ts";
import { RANGE_HEADERS, REQUEST_BUDGET_PER_BLOCK_MS } from "./limits.ts";
import { backOff, failPeer, TOO_SLOW } from "./peerFailure.ts";
import { isProvenFault } from "./peerReports.ts";
import type { SyncChain, SyncPeer } from "./ports.ts";
import { RequestBudget } from "./requestBudget.ts";
import type { Link } from "./segment.ts";

/**
 * Fetches the next range from the peer, and imports it block by block. A peer that is too slow, or returns invalid blocks,
 * or fewer than it claims to have, is backed off.
 */
export async function fetchRange(context: SyncContext, peer: SyncPeer): Promise<void> {
  const { chain, clock, choice, peers, isClosed } = context;
  const before = chain.head.header.number;
  const claimed = peer.height ?? before;
  const budget = new RequestBudget(clock, {
    firstMs: choice.requestBudgetMs(peer),
    isReplaceable: () => isClosed() || choice.isReplaceable(peer, peers(), chain.head.header.number),
  });
  const links = await fetchHeaders(chain, peer, budget);
  if (!links.ok) {
    failPeer(context, peer, links.error);
    return;
  }
  const isComplete = await importBlocks(context, peer, { links: links.value, budget });
  if (!isComplete) return;
  const count = links.value.length;
  const isShort = count < RANGE_HEADERS && before + BigInt(count) < claimed;
  if (chain.head.header.number > before && !isShort) {
    choice.noteDelivered(peer);
    return;
  }
  if (isShort) context.reports.cameShort();
  backOff(context, peer);
}

/** Fetches the headers of the range, linked to the head; the first of them is validated. */
async function fetchHeaders(
  chain: SyncChain,
  peer: SyncPeer,
  budget: RequestBudget,
): Promise<Result<readonly Link[], DownloadErrorCode>> {
  const parent = chain.head;
  const links = (await budget.wait(downloadHeaders(peer, parent, RANGE_HEADERS))) ?? err(TOO_SLOW);
  if (!links.ok) return links;
  const first = expectDefined(links.value[0], "the requested header");
  const checked = await checkHeaderAfter(chain, parent, first.header);
  return checked.ok ? links : checked;
}

/** Imports the blocks of the range; false when it ended early: sync was closed, or a block could not be fetched or imported. */
async function importBlocks(
  context: SyncContext,
  peer: SyncPeer,
  { links, budget }: { readonly links: readonly Link[]; readonly budget: RequestBudget },
): Promise<boolean> {
  const { chain, progress, reports, isClosed } = context;
  const blocks = downloadBlocks(peer, links);
  for (;;) {
    const next = await budget.wait(blocks.next());
    if (isClosed()) return false;
    if (next?.done) return true;
    const given = next?.value ?? err(TOO_SLOW);
    if (!given.ok) {
      failPeer(context, peer, given.error);
      return false;
    }
    const block = given.value;
    const { number } = block.header;
    budget.extend(REQUEST_BUDGET_PER_BLOCK_MS);
    // Consensus, or an announcement, has already brought this block.
    if (number <= chain.head.header.number) continue;
    const imported = await chain.importBlock(block);
    if (imported.ok) {
      progress.changePeer(peer);
      progress.noteFetched(block.transactions.length);
      continue;
    }
    if (chain.head.header.number < number) {
      backOff(context, peer);
      reports.blockRefused(peer, block, imported.error);
    }
    return false;
  }
}

/** Validates the header that a peer returned as the child of `parent`, so that nothing more is fetched for a forged one. */
export async function checkHeaderAfter(
  chain: SyncChain,
  parent: NamedHeader,
  header: Header,
): Promise<Result<unknown, DownloadErrorCode>> {
  const hasMoved = (): boolean => !equalBytes(parent.hash, chain.head.hash);
  // The head has moved, so the header cannot be validated here; the importer will.
  if (hasMoved()) return ok(undefined);
  const checked = await chain.checkNextHeader(header);
  if (checked.ok || hasMoved()) return ok(undefined);
  const code = isProvenFault(checked.error) ? "invalid" : "noResponse";
  return fail("peer", code, checked.error.message);
}

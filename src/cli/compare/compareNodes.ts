import { smaller } from "../../primitives/quantity.ts";
import { reportFailure } from "../commandErrors.ts";
import { EXIT } from "../exitCodes.ts";
import { PrintedOutput } from "../printedOutput.ts";
import type { ProcessIo } from "../processIo.ts";
import { type BlockRange, compareRange, lowerHead, type RangeComparison } from "./blockRange.ts";
import { type MetricsPage, PortTaken, serveMetrics } from "./compareMetrics.ts";
import { Endpoint, NodeUnreachable } from "./endpoint.ts";
import type { Side } from "./findings.ts";
import { firstBlockOf } from "./firstBlock.ts";
import { identify, type NodeIdentity, rolesOf } from "./identity.ts";
import { COMPARE_LIMITS } from "./limits.ts";
import type { MethodTemplate } from "./methodTemplates.ts";
import { parseAnswer } from "./parseAnswer.ts";
import type { Report } from "./report.ts";
import { Stop, Stopped } from "./stop.ts";
import { Tally } from "./tally.ts";

interface CompareRequest {
  readonly ours: URL;
  readonly theirs: URL;
  readonly from: bigint | undefined;
  readonly to: bigint | undefined;
  readonly isFollowing: boolean;
  readonly templates: readonly MethodTemplate[];
  readonly report: Report | undefined;
  readonly metricsPort: number | undefined;
  /** How long a node may be away or behind; for ever while following. */
  readonly giveUpAfterMs: number;
}

/** What is compared, how, and where the results go. */
interface Comparison extends CompareRequest, RangeComparison {
  readonly io: ProcessIo;
}

/**
 * Compares two nodes block by block, by their answers over JSON-RPC, and returns the exit code (options.md#exit-codes).
 *
 *     identity of both ──> blocks from..to, a few at a time ──> new blocks of both, while following
 *                            └ block, receipts, chosen methods ──> Tally: same, explained, different, not compared
 *
 * Invariants: no answer of a node is trusted or held beyond its limit (limits.ts); a node that is behind or away is waited
 * for, never called different; what could not be compared is never called the same.
 */
export async function compareNodes(request: CompareRequest, processIo: ProcessIo): Promise<number> {
  const output = new PrintedOutput(processIo);
  const io = { ...processIo, print: output.print };
  const stop = new Stop(io.awaitStop().received);
  const away = new Set<Side>();
  const endpointOf = (side: Side, url: URL): Endpoint =>
    new Endpoint(url, {
      answerBytes: COMPARE_LIMITS.answerBytes,
      parse: parseAnswer,
      giveUpAfterMs: request.isFollowing ? Number.POSITIVE_INFINITY : request.giveUpAfterMs,
      stop: stop.signal,
      sleep: (milliseconds) => stop.sleep(milliseconds),
      nowMs: () => performance.now(),
      onAway: (name, reason) => {
        if (!away.has(side)) io.print(`${name} does not answer; waiting for it: ${reason}\n`);
        away.add(side);
      },
      onBack: () => away.delete(side),
    });
  const nodes = { ours: endpointOf("ours", request.ours), theirs: endpointOf("theirs", request.theirs) };
  const tally = new Tally(
    {
      names: { ours: nodes.ours.name, theirs: nodes.theirs.name },
      templates: request.templates,
      report: request.report,
      away,
    },
    (text) => io.print(text),
  );
  let metrics: MetricsPage | undefined;
  try {
    if (request.metricsPort !== undefined) metrics = await serveMetrics(request.metricsPort, tally);
    return await identifyAndCompare({ ...request, nodes, tally, stop, output, io });
  } catch (error) {
    if (error instanceof Stopped) return endOf(tally, "stopped", request, io);
    if (error instanceof PortTaken) return reportFailure(error.message, io, EXIT.badInput);
    if (!(error instanceof NodeUnreachable)) throw error;
    io.printError(`${error.message}\n`);
    return endOf(tally, "givenUp", request, io);
  } finally {
    metrics?.close();
  }
}

async function identifyAndCompare(request: Omit<Comparison, "roles">): Promise<number> {
  const { nodes, io } = request;
  const [ours, theirs] = await Promise.all([identify(nodes.ours), identify(nodes.theirs)]);
  if (!ours.ok) return reportFailure(ours.error.message, io, EXIT.badInput);
  if (!theirs.ok) return reportFailure(theirs.error.message, io, EXIT.badInput);
  const objection = differentChains(ours.value, theirs.value);
  if (objection !== undefined) return reportFailure(objection, io, EXIT.badInput);
  const lower = smaller(ours.value.head, theirs.value.head);
  const from = request.from ?? (request.isFollowing ? lower : 0n);
  const to = request.to ?? lower;
  if (!request.isFollowing && from > to)
    return reportFailure(`There is no block to compare: from ${from} to ${to}.`, io, EXIT.badInput);
  io.print(
    `Comparing ${nodes.ours.name} (${ours.value.client}) with ${nodes.theirs.name} (${theirs.value.client}): ` +
      `chain ${ours.value.chainId}, genesis ${ours.value.genesisHash}, ` +
      `${request.isFollowing ? `block ${from} and all later ones, until stopped` : `blocks ${from} to ${to}`}\n`,
  );
  const comparison: Comparison = { ...request, roles: rolesOf(ours.value, theirs.value) };
  const begin = await beginAfterAbsent({ from, to }, { ours: ours.value, theirs: theirs.value }, comparison);
  if (request.isFollowing) return follow(begin, comparison);
  await compareRange({ from: begin, to }, comparison);
  return endOf(comparison.tally, "done", comparison, io);
}

/**
 * The first block of the range that both nodes have: a node may have been made from a snapshot, or remove old blocks.
 * Earlier blocks count as not compared if they were requested by number.
 */
async function beginAfterAbsent(
  { from, to }: BlockRange,
  identities: Readonly<Record<Side, NodeIdentity>>,
  { nodes, tally, io, from: asked }: Comparison,
): Promise<bigint> {
  let begin = from;
  for (const side of ["ours", "theirs"] as const) {
    const first = await firstBlockOf(nodes[side], identities[side].head);
    if (first === 1n || first <= begin) continue;
    if (asked === undefined)
      io.print(`${nodes[side].name} only has blocks from ${first} on; comparing those\n`);
    else tally.addAbsent({ from: begin, to: smaller(first - 1n, to) }, side);
    begin = first;
  }
  return begin;
}

function differentChains(ours: NodeIdentity, theirs: NodeIdentity): string | undefined {
  if (ours.chainId !== theirs.chainId)
    return `The nodes belong to different networks: chain id ${ours.chainId} and ${theirs.chainId}.`;
  if (ours.genesisHash === theirs.genesisHash) return undefined;
  return `The nodes have different genesis blocks: ${ours.genesisHash} and ${theirs.genesisHash}.`;
}

/** Compares new blocks until a stop, which is thrown. */
async function follow(from: bigint, comparison: Comparison): Promise<never> {
  let next = from;
  for (;;) {
    const to = await lowerHead(comparison);
    if (to >= next) {
      await compareRange({ from: next, to }, comparison);
      next = to + 1n;
    }
    await comparison.stop.sleep(COMPARE_LIMITS.pollMs);
  }
}

/** Prints the result, and chooses the exit code: a difference outweighs an early end. */
function endOf(
  tally: Tally,
  end: "done" | "stopped" | "givenUp",
  { isFollowing }: CompareRequest,
  io: ProcessIo,
) {
  const how = { done: "Compared", stopped: "Stopped after", givenUp: "Given up after" }[end];
  io.print(`${how}: ${tally.summary()}\n`);
  if (tally.differences > 0) return EXIT.differs;
  const isWhole = end === "done" || (end === "stopped" && isFollowing);
  return isWhole && tally.notCompared === 0 ? EXIT.ok : EXIT.incomplete;
}

import type { StatusReport } from "../../node/status/statusReport.ts";
import { isRecord, textIn } from "./answerFields.ts";
import { durationText } from "./units.ts";

/** Something that an operator should know. A problem keeps the node from its work, or soon will. */
export interface Finding {
  readonly level: "problem" | "warning" | "note";
  readonly what: string;
  /** What to do about it, if anything. */
  readonly advice?: string;
}

/** Judges a running node by its report. */
export function findingsOf(report: StatusReport): readonly Finding[] {
  return [
    ...judgeHead(report),
    ...judgePauses(report),
    ...judgeConsensus(report),
    ...judgeSigner(report),
    ...judgePeers(report),
    ...judgeProcess(report),
    ...judgeHistory(report),
  ];
}

function judgeHistory({ blockHistory, stateHistory }: StatusReport): readonly Finding[] {
  const findings: Finding[] = [];
  if (blockHistory?.kept !== undefined)
    findings.push(removedBlocksNote(`only those from #${blockHistory.first} on are whole (--block-history)`));
  if (stateHistory?.kept !== undefined)
    findings.push(removedStatesNote(`those from #${stateHistory.first} on are stored (--state-history)`));
  return findings;
}

/**
 * Note about removed blocks: a network whose nodes all remove old blocks can only be joined with a snapshot, and no node
 * knows what others keep.
 */
export function removedBlocksNote(which: string): Finding {
  return {
    level: "note",
    what: `This node removes old blocks: ${which}.`,
    advice:
      "Make sure that another node of the network keeps all blocks, or that a snapshot of a recent block is available: otherwise no new node can join.",
  };
}

export function removedStatesNote(which: string): Finding {
  return {
    level: "note",
    what: `This node removes old states: ${which}.`,
    advice: "Make sure that another node keeps all of them, if old ones are needed: no peer sends states.",
  };
}

function judgeHead(report: StatusReport): readonly Finding[] {
  const { nowMs, startedAtMs, head, headAgeLimitMs, isInSync, sync } = report;
  // A node that was stopped for long must not report that the network stalled.
  const ageMs = nowMs - Math.max(head.timestamp * 1000, startedAtMs);
  if (sync !== undefined || !isInSync) {
    const target = sync === undefined ? "" : ` of #${sync.highestBlock}`;
    return [{ level: "note", what: `The node catches up: it has block #${head.number}${target}.` }];
  }
  if (ageMs <= headAgeLimitMs) return [];
  return [
    {
      level: "problem",
      what: `There has been no new block for ${durationText(ageMs)}.`,
      advice: 'Read "When the chain stalls" in docs/operating.md, and ask the status of each validator.',
    },
  ];
}

const PAUSES: Readonly<Record<string, Finding>> = {
  diskAlmostFull: {
    level: "problem",
    what: "The disk is almost full: this node makes no blocks until there is room.",
    advice: "Make room or enlarge the disk. It resumes by itself.",
  },
  operator: {
    level: "problem",
    what: "The operator has stopped block production (miner_stop).",
    advice: "miner_start resumes it.",
  },
  catchingUp: { level: "note", what: "It neither proposes nor votes until it has caught up." },
  lostEnd: {
    level: "warning",
    what: "Its database has lost its newest blocks: it neither proposes nor votes until a peer has shown them.",
    advice: "Start the other nodes, or connect this one to a node that has the blocks (docs/operating.md).",
  },
  listening: {
    level: "note",
    what: "It listens for other nodes with its key before it votes, for 10 s at most.",
  },
  development: {
    level: "note",
    what: "Blocks of this chain are made for development, without votes (docs/development-network.md).",
  },
};

function judgePauses({ pauses }: StatusReport): readonly Finding[] {
  return pauses.map((reason) => PAUSES[reason] ?? { level: "warning", what: `It is paused: ${reason}.` });
}

function judgeConsensus({ consensus }: StatusReport): readonly Finding[] {
  if (!isRecord(consensus)) return [];
  const findings: Finding[] = [];
  const { mode, silence, missing, validators, quorum } = consensus;
  if (mode === "failed")
    findings.push({
      level: "problem",
      what: "Consensus has stopped because of an error.",
      advice: "Read the last error in the log, and start the node again.",
    });
  if (isRecord(silence))
    findings.push({
      level: "warning",
      what: `This validator is silent up to height ${Number(silence["upToHeight"])}: ${textIn(silence, "reason")}.`,
      advice:
        'It resumes by itself when the network is past that height. Read "Lost votes" in docs/operating.md.',
    });
  if (mode === "bound")
    findings.push({
      level: "note",
      what: "This validator voted at a later height before its start, and takes part when the chain gets there.",
    });
  if (Array.isArray(missing) && Array.isArray(validators) && missing.length > 0) {
    const present = validators.length - missing.length;
    const isQuorum = present >= Number(quorum);
    findings.push({
      level: isQuorum ? "warning" : "problem",
      what:
        `${missing.length} of ${validators.length} validators are not heard from: ${missing.join(", ")}. ` +
        `${present} are, and ${Number(quorum)} are needed for a block.`,
      advice: "Check the status of their nodes, and whether they are connected to this one.",
    });
  }
  return findings;
}

function judgeSigner({ signer, consensus }: StatusReport): readonly Finding[] {
  if (signer === undefined) return [];
  const { url, failure, last, isSlow } = signer;
  if (failure !== undefined)
    return [
      {
        level: isRecord(consensus) && consensus["isValidator"] === true ? "problem" : "warning",
        what:
          `The remote signer ${url} has given no signature for ${durationText(failure.lastsMs)}: ${failure.reason}. This ` +
          "validator neither proposes nor votes.",
        advice:
          'Read "A remote signer" in docs/operating/keys.md. It resumes by itself when the signer does.',
      },
    ];
  if (last === undefined || !isSlow) return [];
  return [
    {
      level: "warning",
      what: `The remote signer ${url} is slow, ${Math.round(last.tookMs)} ms for its last signature, and a block takes three.`,
      advice: "Is its host busy, or the link to it slow?",
    },
  ];
}

function judgePeers({ peerToPeer, consensus }: StatusReport): readonly Finding[] {
  if (peerToPeer === undefined) return [];
  const findings: Finding[] = peerToPeer.unreachable.map(({ enode, seconds, explanation }) => ({
    level: "warning",
    what: `There has been no connection to ${placeOf(enode)} for ${durationText(seconds * 1000)}: ${explanation}.`,
  }));
  const validators =
    isRecord(consensus) && Array.isArray(consensus["validators"]) ? consensus["validators"] : [];
  const isAlone = validators.length === 1 && isRecord(consensus) && consensus["isValidator"] === true;
  if (peerToPeer.peers.length === 0 && !isAlone)
    findings.push({
      level: "problem",
      what: "The node has no peers.",
      advice:
        "Name bootnodes (--bootnodes) or peers (static-nodes.json), and make sure that the P2P port is open for TCP and UDP, and that " +
        "the genesis file is the network's.",
    });
  return findings;
}

/** Shares of a limit above which usage is reported. */
const FULL = 0.9;

function judgeProcess({
  openFiles: { open, limit },
  memory,
  optionWarnings,
}: StatusReport): readonly Finding[] {
  const findings: Finding[] = optionWarnings.map((what) => ({ level: "note", what }));
  if (open !== undefined && limit !== undefined && open > limit * FULL)
    findings.push({
      level: "problem",
      what: `${open} of ${limit} files and connections are open.`,
      advice: 'Raise the limit: "ulimit -n 65536", or LimitNOFILE=65536 in the systemd unit.',
    });
  // Mapped tables of the database are no burden: the system reclaims them when it needs the memory.
  const { own = memory.resident } = memory;
  if (own > memory.limit * FULL)
    findings.push({
      level: "problem",
      what: `The node uses ${Math.round((100 * own) / memory.limit)} % of the memory that it may use.`,
      advice: "Raise the limit of its container or unit; the system may kill it under load.",
    });
  return findings;
}

function placeOf(enode: string): string {
  return enode.slice(enode.indexOf("@") + 1);
}

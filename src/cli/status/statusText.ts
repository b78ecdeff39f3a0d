import type { HistoryReport, PeerToPeerReport, StatusReport } from "../../node/status/statusReport.ts";
import { isRecord, textIn } from "./answerFields.ts";
import type { DiskStatus } from "./disk.ts";
import type { Finding } from "./findings.ts";
import { bytesText, durationText } from "./units.ts";

/** A one-screen summary of a node for its operator. */
export function statusText(report: StatusReport, disk: DiskStatus, findings: readonly Finding[]): string {
  const { version, processId, startedAtMs, nowMs, chainId, genesisHash, head, pooled, servers, memory } =
    report;
  const { openFiles } = report;
  const lines: (readonly [name: string, text: string])[] = [
    ["Node", `${version}, process ${processId}, up for ${durationText(nowMs - startedAtMs)}`],
    ["Network", `chain id ${chainId}, genesis ${genesisHash}`],
    ["Head", `#${head.number} ${head.hash}, ${durationText(nowMs - head.timestamp * 1000)} old`],
    ["Sync", syncText(report)],
    ...consensusLines(report),
    ...signerLines(report),
    ["Peers", peersText(report.peerToPeer)],
    ...(report.peerToPeer?.peers ?? []).map(
      ({ remote, client, isValidator }) =>
        ["", `${remote} ${printable(client)}${isValidator ? ", validator" : ""}`] as const,
    ),
    ["Pool", `${pooled} transactions`],
    [
      "Servers",
      Object.entries(servers)
        .map(([name, place]) => `${name} ${place}`)
        .join(", ") || "none",
    ],
    ...historyLines(report),
    ["Disk", diskText(disk)],
    ["Memory", memoryText(memory)],
    ["Files", `${openFiles.open ?? "?"} open, ${openFiles.limit ?? "?"} allowed`],
  ];
  const fields = lines.map(([name, text]) => `${name.padEnd(NAME_WIDTH)}${text}\n`).join("");
  return `${fields}\n${warningsText(report)}${findingsText(findings)}`;
}

const NAME_WIDTH = 11;

function memoryText({ resident, own, limit }: StatusReport["memory"]): string {
  if (own === undefined) return `${bytesText(resident)} of ${bytesText(limit)}`;
  return `${bytesText(own)} of ${bytesText(limit)}, and ${bytesText(Math.max(0, resident - own))} of mapped files`;
}

function syncText({ isInSync, sync, head }: StatusReport): string {
  if (sync === undefined) return isInSync ? "in sync" : "catching up";
  const share = (100 * head.number) / Math.max(1, sync.highestBlock);
  return `catching up: #${head.number} of #${sync.highestBlock} (${Math.floor(share)} %)`;
}

function consensusLines({ consensus }: StatusReport): (readonly [string, string])[] {
  if (!isRecord(consensus)) return [];
  const { isValidator, round, validators } = consensus;
  const members = Array.isArray(validators) ? validators.filter(isRecord) : [];
  const role = isValidator === true ? "validator" : "not a validator";
  const lines: (readonly [string, string])[] = [
    ["Role", `${textIn(consensus, "address")}, ${role}, ${textIn(consensus, "mode")}`],
  ];
  if (typeof round === "string")
    lines.push([
      "Round",
      `${Number(round)} of height ${Number(consensus["height"])}, ${textIn(consensus, "phase")}, proposer ${textIn(consensus, "proposer")}`,
    ]);
  lines.push(["Validators", `${members.length}, ${Number(consensus["quorum"])} needed for a block`]);
  for (const member of members) lines.push(["", memberText(member)]);
  return lines;
}

function memberText(member: Readonly<Record<string, unknown>>): string {
  const { isSelf, isHeard, lastHeard } = member;
  const address = textIn(member, "address");
  if (isSelf === true) return `${address} this node`;
  const heard = isRecord(lastHeard) ? `heard ${durationText(Number(lastHeard["agoMs"]))} ago` : "never heard";
  return `${address} ${isHeard === false ? "MISSING, " : ""}${heard}`;
}

function signerLines({ signer }: StatusReport): (readonly [string, string])[] {
  if (signer === undefined) return [];
  const { url, failure, last } = signer;
  const signed =
    last === undefined
      ? "has not signed yet"
      : `signed ${durationText(last.ageMs)} ago in ${Math.round(last.tookMs)} ms`;
  return [["Signer", `${url}, ${failure === undefined ? signed : `FAILING: ${failure.reason}`}`]];
}

function historyLines({ blockHistory, stateHistory }: StatusReport): (readonly [string, string])[] {
  const lines: string[] = [];
  if (blockHistory !== undefined) lines.push(historyText("whole blocks", blockHistory));
  if (stateHistory !== undefined) {
    const { toRemove = 0, movedNodes, deletedPages } = stateHistory;
    const done = `${movedNodes} trie nodes moved and ${deletedPages} pages deleted so far`;
    lines.push(`${historyText("states", stateHistory)}${toRemove > 0 ? ` (${done})` : ""}`);
  }
  return lines.map((text, index) => [index === 0 ? "History" : "", text]);
}

function historyText(what: string, { first, kept, toRemove = 0 }: HistoryReport): string {
  const parts = [`${what} from #${first} on`];
  parts.push(kept === undefined ? "none is removed now" : `${kept} below the head are kept`);
  if (toRemove > 0) parts.push(`${toRemove} are being removed`);
  return parts.join(", ");
}

function peersText(peerToPeer: PeerToPeerReport | undefined): string {
  if (peerToPeer === undefined) return "peer-to-peer is off";
  const { peers, maxPeers, discovered, unreachable } = peerToPeer;
  const count = unreachable.length;
  const away = count === 0 ? "" : `, ${count} named ${count === 1 ? "peer" : "peers"} not connected`;
  return `${peers.length} of ${maxPeers}${away}, ${discovered} known by discovery`;
}

function diskText({ freeBytes, databaseBytes }: DiskStatus): string {
  const free = freeBytes === undefined ? "unknown" : bytesText(freeBytes);
  return `${free} free, database ${databaseBytes === undefined ? "unknown" : bytesText(databaseBytes)}`;
}

/** How far back warnings are shown. */
const RECENT_MS = 60 * 60_000;
const MOST_WARNINGS = 5;

function warningsText({ recentWarnings, optionWarnings, nowMs }: StatusReport): string {
  const recent = recentWarnings
    .filter(({ atMs, message }) => nowMs - atMs < RECENT_MS && !optionWarnings.includes(message))
    .slice(-MOST_WARNINGS);
  if (recent.length === 0) return "";
  const lines = recent.map(({ level, message, atMs, times }) => {
    const often = times > 1 ? `, ${times} times` : "";
    return `  ${level}, ${durationText(nowMs - atMs)} ago${often}: ${printable(message)}\n`;
  });
  return `Warnings of the last hour\n${lines.join("")}\n`;
}

const TITLES: Readonly<Record<Finding["level"], string>> = {
  problem: "Problem",
  warning: "Warning",
  note: "Note",
};

/** Each finding with its advice; or a line that says that there is nothing to worry about. */
export function findingsText(findings: readonly Finding[]): string {
  const lines = findings.map(
    ({ level, what, advice }) =>
      `${TITLES[level]}: ${printable(what)}${advice === undefined ? "" : ` ${advice}`}\n`,
  );
  return findings.some(({ level }) => level !== "note") ? lines.join("") : `${lines.join("")}All is well.\n`;
}

/** Text that a peer may have chosen, without control characters that a terminal would obey. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, "�");
}

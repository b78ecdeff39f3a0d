import { accessSync, constants, existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { readHandOverMark, refuseUnfinished } from "../../node/dataFolder/handOverMark.ts";
import { messageOf } from "../../primitives/errorMessage.ts";
import type { Finding } from "./findings.ts";

/** Judges the data folder without opening the database, which a running node may use. */
export function judgeFolder(dataPath: string, secrets: readonly string[]): readonly Finding[] {
  if (!existsSync(dataPath))
    return [
      {
        level: "warning",
        what: `The data folder ${dataPath} does not exist. The node creates it at its start.`,
        advice: "Is --data-path the one that the node is started with?",
      },
    ];
  return [
    ...judgePermissions(dataPath),
    ...judgeSecrets(dataPath, secrets),
    ...judgeHandOver(dataPath),
    ...judgeLeftovers(dataPath),
  ];
}

/** Names that the node reads and writes. */
const OWN_NAMES = [
  "",
  "chain",
  "chain/LOCK",
  "chain/CURRENT",
  "head.log",
  "votes.log",
  "votes.log.mark",
  "votes.log.of",
];

function judgePermissions(dataPath: string): readonly Finding[] {
  const findings: Finding[] = [];
  for (const name of OWN_NAMES) {
    const path = join(dataPath, name);
    if (!existsSync(path)) continue;
    try {
      accessSync(path, constants.R_OK | constants.W_OK);
    } catch (error) {
      findings.push({
        level: "problem",
        what: `This user may not read and write ${path}: ${messageOf(error)}.`,
        advice: `If the node runs as this user, change the owner: chown -R ${process.getuid?.() ?? "<user>"} ${dataPath}`,
      });
    }
  }
  const owners = new Set(
    OWN_NAMES.map((name) => statSync(join(dataPath, name), { throwIfNoEntry: false })?.uid).filter(
      (owner) => owner !== undefined,
    ),
  );
  if (owners.size > 1)
    findings.push({
      level: "warning",
      what: `The files in ${dataPath} belong to different users: ${[...owners].join(", ")}.`,
      advice:
        "Was the node, or a command, once run as root? Give all to the user that the node runs as (chown -R).",
    });
  return findings;
}

const OTHERS_MAY_READ = 0o044;
const OTHERS_MAY_WRITE = 0o022;

function judgeSecrets(dataPath: string, secrets: readonly string[]): readonly Finding[] {
  const findings: Finding[] = [];
  for (const path of secrets) {
    const file = statSync(path, { throwIfNoEntry: false });
    if (file === undefined && existsSync(join(dataPath, "chain", "CURRENT")))
      findings.push({
        level: "problem",
        what: `There is a chain, but the key file ${path} is missing: the node will not start.`,
        advice: "Restore it from your copy. A new key would make this another node.",
      });
    if (file !== undefined && (file.mode & OTHERS_MAY_READ) !== 0)
      findings.push({
        level: "warning",
        what: `Other users may read the node's private key ${path}.`,
        advice: `chmod 600 ${path}`,
      });
  }
  if ((statSync(dataPath).mode & OTHERS_MAY_WRITE) !== 0)
    findings.push({
      level: "warning",
      what: `Other users may write to the data folder ${dataPath}, and so replace the key or the vote log.`,
      advice: `chmod go-w ${dataPath}`,
    });
  return findings;
}

/** Reports a validator that was given away from here, or came here only in part. */
function judgeHandOver(dataPath: string): readonly Finding[] {
  const mark = readHandOverMark(dataPath);
  if (!mark.ok) return [{ level: "problem", what: mark.error.message }];
  const finished = refuseUnfinished(mark.value, dataPath);
  if (!finished.ok) return [{ level: "problem", what: finished.error.message }];
  const { given } = mark.value;
  if (given === undefined) return [];
  return [
    {
      level: "note",
      what: `The validator ${given.address} was handed over from ${dataPath} at ${given.at}: no node starts with its key here.`,
      advice: "To undo this, see docs/operating/hand-over.md.",
    },
  ];
}

function judgeLeftovers(dataPath: string): readonly Finding[] {
  const left = readdirSync(dataPath).filter((name) => name.endsWith(".unfinished"));
  if (left.length === 0) return [];
  return [
    {
      level: "note",
      what: `${left.join(", ")} in ${dataPath} belongs to a backup that is running or was killed.`,
      advice: "The next backup removes the leftovers of a killed one.",
    },
  ];
}

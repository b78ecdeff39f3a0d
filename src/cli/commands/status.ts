import { readDataFolder, readSettings } from "../../config/readSettings.ts";
import { switchType } from "../../config/valueTypes.ts";
import { reportFailure } from "../commandErrors.ts";
import { EXIT } from "../exitCodes.ts";
import { refuse } from "../processIo.ts";
import { type Command, defineCommand, type Invocation } from "./command.ts";

const JSON_OPTION = { json: { type: switchType, help: "Print JSON for programs." } } as const;

export const STATUS_COMMANDS: readonly Command[] = [
  defineCommand({
    words: "status",
    help:
      "Show the condition of a running node: head, round, missing validators, peers and why others are not connected, disk, memory, recent " +
      "warnings. It asks the node in the data folder; no RPC needs to be open. Exit code 0 if all is well, 1 if there is a " +
      "problem, 2 if no node runs there.",
    options: JSON_OPTION,
    nodeOptions: ["data-path", "config-file"],
    run: status,
  }),
  defineCommand({
    words: "doctor",
    help:
      "Examine a node, running or stopped: its state, data folder, key, disk, limits, ports and options, and say what to do. " +
      "Give it the options that the node is started with. Exit code 1 if there is a problem.",
    options: JSON_OPTION,
    nodeOptions: ["data-path", "config-file", "genesis-file", "node-private-key-file"],
    run: doctor,
  }),
];

interface Values {
  readonly json: boolean | undefined;
}

async function status({ values, io, raw }: Invocation<Values>): Promise<number> {
  const folder = readDataFolder({ ...io, raw });
  if (!folder.ok) return refuse(folder.error.message, io);
  const { dataPath } = folder.value;
  const { askNode } = await import("../status/askNode.ts");
  const asked = await askNode(dataPath);
  if (!asked.ok)
    return reportFailure(
      asked.error.message,
      io,
      asked.error.code === "notRunning" ? EXIT.badInput : EXIT.failed,
    );
  const report = asked.value;
  const { findingsOf } = await import("../status/findings.ts");
  const { diskStatus, judgeDisk } = await import("../status/disk.ts");
  const disk = diskStatus(dataPath);
  const findings = [...findingsOf(report), ...judgeDisk(disk, report.minFreeDiskBytes)];
  if (values.json === true) {
    io.print(`${JSON.stringify({ ...report, disk, findings })}\n`);
  } else {
    const { statusText } = await import("../status/statusText.ts");
    io.print(statusText(report, disk, findings));
  }
  return exitCodeFor(findings);
}

async function doctor({ values, io, raw, unknown }: Invocation<Values>): Promise<number> {
  const settings = readSettings({ ...io, raw, unknown });
  if (!settings.ok) return refuse(settings.error.message, io);
  const { askNode } = await import("../status/askNode.ts");
  const { judgeRunning, judgeStopped } = await import("../status/doctorFindings.ts");
  const asked = await askNode(settings.value.dataPath);
  const findings = asked.ok
    ? judgeRunning(asked.value, settings.value)
    : asked.error.code === "notRunning"
      ? await judgeStopped(settings.value)
      : [{ level: "problem" as const, what: asked.error.message }];
  if (values.json === true) {
    io.print(`${JSON.stringify({ findings })}\n`);
  } else {
    const { findingsText } = await import("../status/statusText.ts");
    io.print(findingsText(findings));
  }
  return exitCodeFor(findings);
}

function exitCodeFor(findings: readonly { readonly level: string }[]): number {
  return findings.some(({ level }) => level === "problem") ? EXIT.failed : EXIT.ok;
}

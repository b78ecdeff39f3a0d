import { resolve } from "node:path";
import { longType, pathType, portType, secondsType, switchType, textType } from "../../config/valueTypes.ts";
import { readNamedFile } from "../../primitives/boundedFile.ts";
import { messageOf } from "../../primitives/errorMessage.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import type { MethodTemplate } from "../compare/methodTemplates.ts";
import { type ProcessIo, refuse } from "../processIo.ts";
import { defineCommand, type Invocation } from "./command.ts";

const URL_TYPE = textType({ label: "<URL>", accepts: "a URL of JSON-RPC over HTTP" });

const OPTIONS = {
  with: { type: URL_TYPE, isRequired: true, help: "JSON-RPC URL of the node to compare with, Besu or Ibex." },
  node: {
    type: URL_TYPE,
    default: "http://127.0.0.1:8545",
    help: "JSON-RPC URL of the node to compare.",
  },
  from: { type: longType, help: "First block. Default: 0, or the newest one with --follow." },
  to: { type: longType, help: "Last block; the command waits for it if necessary. Default: the lower head." },
  follow: { type: switchType, help: "Continue with each new block of both nodes until stopped." },
  methods: {
    type: { ...pathType, label: "<FILE>" },
    help: "JSON list of the requests to compare in addition to blocks and receipts. See docs/operating/compare.md.",
  },
  report: {
    type: { ...pathType, label: "<FILE>" },
    help: "File for all differences, as JSON lines; overwritten.",
  },
  "metrics-port": { type: portType, help: "Port on 127.0.0.1 for metrics in Prometheus's format." },
  "give-up-seconds": {
    type: secondsType,
    default: "300",
    help: "Maximum time that a node may be unreachable or behind; unlimited with --follow.",
  },
} as const;

export const COMPARE = defineCommand({
  words: "compare",
  help:
    "Compare two running nodes block by block: hashes, state roots, receipts and a chosen set of JSON-RPC answers. Exit " +
    "code 0 if all are the same, 3 if some differ without explanation, 4 if some could not be compared.",
  options: OPTIONS,
  run: compare,
});

interface Values {
  readonly with: string;
  readonly node: string;
  readonly from: bigint | undefined;
  readonly to: bigint | undefined;
  readonly follow: boolean | undefined;
  readonly methods: string | undefined;
  readonly report: string | undefined;
  readonly "metrics-port": number | undefined;
  readonly "give-up-seconds": number;
}

async function compare({ values, io }: Invocation<Values>): Promise<number> {
  const { with: other, node, from, to, follow = false, report: reportFile } = values;
  const [ours, theirs] = [httpUrl(node), httpUrl(other)];
  if (ours === undefined || theirs === undefined)
    return refuse(`Not a URL of HTTP: ${ours === undefined ? `--node=${node}` : `--with=${other}`}`, io);
  if (follow && to !== undefined) return refuse("--to and --follow exclude each other.", io);
  if (from !== undefined && to !== undefined && from > to)
    return refuse(`--from=${from} is above --to=${to}.`, io);
  const templates = await readTemplates(values.methods, io);
  if (!templates.ok) return refuse(templates.error.message, io);
  const report = await openReportFile(reportFile, io);
  if (!report.ok) return refuse(report.error.message, io);
  const { compareNodes } = await import("../compare/compareNodes.ts");
  try {
    return await compareNodes(
      {
        ours,
        theirs,
        from,
        to,
        isFollowing: follow,
        templates: templates.value,
        report: report.value,
        metricsPort: values["metrics-port"],
        giveUpAfterMs: values["give-up-seconds"] * 1000,
      },
      io,
    );
  } finally {
    report.value?.close();
  }
}

function httpUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === "http:" || url?.protocol === "https:" ? url : undefined;
}

async function readTemplates(
  file: string | undefined,
  io: ProcessIo,
): Promise<Result<readonly MethodTemplate[], "badMethods">> {
  const { DEFAULT_METHODS, readMethodTemplates } = await import("../compare/methodTemplates.ts");
  const { COMPARE_LIMITS } = await import("../compare/limits.ts");
  if (file === undefined) return ok(DEFAULT_METHODS);
  const path = resolve(io.workingDirectory, file);
  const bad = (reason: string) =>
    fail("caller", "badMethods" as const, `The file of methods ${file}: ${reason}`);
  try {
    const templates = readMethodTemplates(readNamedFile(path, COMPARE_LIMITS.methodsFileBytes));
    return templates.ok ? templates : bad(templates.error.message);
  } catch (error) {
    return bad(messageOf(error));
  }
}

async function openReportFile(file: string | undefined, io: ProcessIo) {
  if (file === undefined) return ok(undefined);
  const { Report } = await import("../compare/report.ts");
  try {
    return ok(new Report(resolve(io.workingDirectory, file)));
  } catch (error) {
    return fail("caller", "badReport", `The report ${file} cannot be written: ${messageOf(error)}`);
  }
}

import { createServer } from "node:net";
import { clientVersion } from "../../config/clientVersion.ts";
import type { Settings } from "../../config/settings.ts";
import { hostLimits, hostWarnings } from "../../node/host/hostLimits.ts";
import { checkSigner } from "../../node/signer/openSigner.ts";
import type { StatusReport } from "../../node/status/statusReport.ts";
import type { Endpoint } from "../../primitives/endpoint.ts";
import { SERVER_NAMES, SERVERS, type ServerName } from "../../rpc/server/serverTable.ts";
import { findPathDefect } from "../../rpc/server/unixSocket.ts";
import { diskStatus, judgeDisk } from "./disk.ts";
import { type Finding, findingsOf, removedBlocksNote, removedStatesNote } from "./findings.ts";
import { judgeFolder } from "./folderFindings.ts";

/** Judges a running node by its report and its folder. */
export function judgeRunning(report: StatusReport, settings: Settings): readonly Finding[] {
  const { dataPath, nodeKey } = settings;
  const findings: Finding[] = [
    ...findingsOf(report),
    ...judgeDisk(diskStatus(dataPath), report.minFreeDiskBytes),
  ];
  const { limit } = report.openFiles;
  const limits = { openFiles: limit, memoryBytes: report.memory.limit };
  for (const what of hostWarnings(limits)) findings.push({ level: "warning", what });
  const ours = clientVersion();
  if (report.version.split("/")[1] !== ours.split("/")[1])
    findings.push({
      level: "warning",
      what: `The node runs ${report.version}, and this program is ${ours}.`,
      advice: "If it was upgraded, start the node again to use the new version.",
    });
  return [...findings, ...judgeFolder(dataPath, secretsOf(nodeKey))];
}

/** Judges what a stopped node would encounter at its start. */
export async function judgeStopped(settings: Settings): Promise<readonly Finding[]> {
  const { dataPath, nodeKey, minFreeDiskBytes, warnings } = settings;
  const findings: Finding[] = [
    { level: "problem", what: `No node runs in ${dataPath}, or it is still starting.` },
    ...warnings.map((what): Finding => ({ level: "note", what })),
    ...judgeHistoryOptions(settings),
    ...hostWarnings(hostLimits()).map((what): Finding => ({ level: "warning", what })),
    ...judgeDisk(diskStatus(dataPath), minFreeDiskBytes),
    ...judgeFolder(dataPath, secretsOf(nodeKey)),
  ];
  const signerProblem = settings.signer && (await checkSigner(settings.signer));
  if (signerProblem !== undefined) findings.push({ level: "problem", what: signerProblem });
  for (const [option, place] of placesOf(settings)) {
    const problem = await problemOfPort(place);
    if (problem !== undefined)
      findings.push({
        level: "problem",
        what: `The node cannot listen on ${place.host}:${place.port} (${option}): ${problem}.`,
        advice:
          problem === "EADDRINUSE"
            ? "Another program uses the port: stop it, or choose another port."
            : "Choose another one.",
      });
  }
  return [...findings, ...(await judgeSocket(settings.ipc))];
}

async function judgeSocket(ipc: Settings["ipc"]): Promise<readonly Finding[]> {
  if (ipc === undefined) return [];
  const defect = await findPathDefect(ipc.path);
  if (defect === undefined) return [];
  const what = `The node cannot listen at ${ipc.path} (--${SERVERS.ipc.option}-path): ${defect}.`;
  return [{ level: "problem", what, advice: "Choose another path, or remove what is in the way." }];
}

function judgeHistoryOptions({ blockHistory, stateHistory }: Settings): readonly Finding[] {
  const findings: Finding[] = [];
  if (blockHistory !== undefined)
    findings.push(removedBlocksNote(`those older than ${blockHistory} below the head (--block-history)`));
  if (stateHistory !== undefined)
    findings.push(removedStatesNote(`those older than ${stateHistory} below the head (--state-history)`));
  return findings;
}

/** The files with the key; a start needs the first one. */
function secretsOf({ path, keystore }: Settings["nodeKey"]): readonly string[] {
  return keystore === undefined ? [path] : [keystore.path, keystore.passwordFile];
}

function placesOf(settings: Settings): readonly (readonly [string, Endpoint])[] {
  const { http, webSocket, graphQl, explorer, peers, metrics } = settings;
  const servers: Readonly<Record<ServerName, Endpoint | undefined>> = {
    http,
    webSocket,
    // A file, not a port (judgeSocket).
    ipc: undefined,
    graphQl,
    // One that nobody asked for takes another port where its own is in use.
    explorer: explorer?.isAnyPortFine === true ? undefined : explorer,
    metrics: metrics?.server,
  };
  const places: (readonly [string, Endpoint | undefined])[] = [
    ...SERVER_NAMES.map((name) => [`--${SERVERS[name].option}-port`, servers[name]] as const),
    ["--p2p-port", peers],
  ];
  return places.flatMap(([option, place]) =>
    place === undefined || place.port === 0 ? [] : [[option, place]],
  );
}

/** The system's error code when listening on a port fails; undefined when it works. */
function problemOfPort({ host, port }: Endpoint): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

import type { IncomingMessage, ServerResponse } from "node:http";
import { decodeAddress, isObject } from "../../rpc/parameters/parameters.ts";
import type { HttpAnswers } from "../../rpc/server/httpAnswers.ts";
import { readBody } from "../../rpc/server/httpBody.ts";
import { HttpCaller } from "../../rpc/server/httpIntake.ts";
import { respondJson } from "../../rpc/server/httpResponse.ts";
import { parseMessage } from "../../rpc/server/parseMessage.ts";
import type { Pipelines } from "../../rpc/server/pipelines.ts";
import type { HostRule } from "../../rpc/server/remoteHost.ts";
import type { VerifiedContract, VerifiedSources } from "./contractStore.ts";
import { readStandardInput } from "./standardInput.ts";
import type { Outcome, Verifier } from "./verifier.ts";
import {
  BYTES_OF_UNIT,
  MOST_FIELDS,
  MOST_READ,
  MOST_READ_OF_HOST,
  OUTCOME_WAIT_MS,
  READ_COST,
  REQUEST_BYTES,
  VERIFY_COST,
} from "./verifyLimits.ts";

export interface VerifyServer {
  readonly verifier: Verifier;
  readonly hostOf: HostRule;
  readonly pipelines: Pipelines;
  readonly answers: HttpAnswers;
  /** Takes units from a visitor's budget; false when too few are left. */
  spend(remoteHost: string, units: number): boolean;
}

/** Answers Etherscan's module "contract": verifysourcecode and the like (docs/explorer-api.md, "Verification"). */
export class VerifyRoute {
  private readonly server: VerifyServer;
  /** The hosts of the requests to verify that are read now. */
  private readonly reading: string[] = [];

  constructor(server: VerifyServer) {
    this.server = server;
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    response.setHeader("Cache-Control", "no-store");
    response.setHeader("X-Content-Type-Options", "nosniff");
    const caller = new HttpCaller(
      request,
      response,
      { isForeignPage: false, grant: undefined },
      this.server.hostOf,
    );
    const isRead = request.method !== "POST";
    const query = new URLSearchParams(request.url?.split("?")[1] ?? "");
    // What a body costs is known only when it is read, so it is taken before.
    if (!this.server.spend(caller.remoteHost, isRead ? READ_COST : VERIFY_COST))
      refuse(response, TOO_MANY_REQUESTS, 429);
    else if (isRead) this.respond(response, caller, (name) => query.get(name));
    else this.read(request, response, caller, query);
  }

  private read(
    request: IncomingMessage,
    response: ServerResponse,
    caller: HttpCaller,
    query: URLSearchParams,
  ): void {
    const { reading } = this;
    const { remoteHost } = caller;
    const own = reading.filter((host) => host === remoteHost).length;
    if (reading.length >= MOST_READ || own >= MOST_READ_OF_HOST) {
      refuse(response, TOO_MANY_REQUESTS, 429);
      return;
    }
    reading.push(remoteHost);
    request.once("close", () => reading.splice(reading.indexOf(remoteHost), 1));
    readBody(request, REQUEST_BYTES, (body) => {
      const fields = body === undefined ? undefined : fieldsIn(body, request.headers["content-type"] ?? "");
      if (fields !== undefined) this.respond(response, caller, (name) => fields(name) ?? query.get(name));
      else
        refuse(
          response,
          `The request has more than ${REQUEST_BYTES / 1024 / 1024} MB or too many fields.`,
          413,
        );
    });
  }

  /** Answers when what the connection asked before has been read, no faster than it reads. */
  private respond(response: ServerResponse, caller: HttpCaller, fields: Fields): void {
    const { pipelines, answers } = this.server;
    pipelines.whenFirst(response, () => {
      const answering = answers.respondMade(response, caller, async () => {
        const made = await answerTo(this.server, fields, caller.remoteHost).catch(() => undefined);
        const json = JSON.stringify(made ?? no("The node cannot answer this now."));
        const status = made === undefined ? 503 : 200;
        return { status, type: "application/json", pieces: [json], heldBytes: json.length };
      });
      answering.catch(() => response.destroy());
    });
  }
}

const TOO_MANY_REQUESTS = "Too many requests. Try again later.";

/** The value of a field by its name. */
type Fields = (name: string) => string | null | undefined;

interface EtherscanAnswer {
  readonly status: "0" | "1";
  readonly message: string;
  readonly result: unknown;
}

/** The fields of a body; undefined for too many. Tools send a form, and some of them JSON. */
function fieldsIn(body: string, type: string): Fields | undefined {
  if (/^application\/json\b/i.test(type)) {
    const parsed = parseMessage(body);
    if (!isObject(parsed)) return () => undefined;
    return (name) => {
      const value = Object.hasOwn(parsed, name) ? parsed[name] : undefined;
      return typeof value === "string" ? value : JSON.stringify(value);
    };
  }
  // A field takes more memory than its text, so they are counted before.
  if (body.split("&", MOST_FIELDS + 1).length > MOST_FIELDS) return undefined;
  const form = new URLSearchParams(body);
  return (name) => form.get(name);
}

async function answerTo(server: VerifyServer, fields: Fields, remoteHost: string): Promise<EtherscanAnswer> {
  const { verifier } = server;
  const action = fields("action");
  switch (action) {
    case "verifysourcecode":
      return verify(verifier, fields, remoteHost);
    case "checkverifystatus":
      return statusOf(await verifier.outcomeOf(fields("guid") ?? "", OUTCOME_WAIT_MS));
    case "getcompilers":
      return yes(verifier.compilers());
    case "getabi":
    case "getcontract":
    case "getsourcecode": {
      const address = decodeAddress(fields("address"));
      if (address === undefined) return no("Invalid Address format");
      const contract = await verifier.contractAt(address);
      if (action !== "getsourcecode")
        return contract === undefined ? no(NOT_VERIFIED) : told(contract, action);
      // Anybody may have verified a contract with long comments.
      const units = contract === undefined ? 0 : Math.ceil(verifier.store.sizeOf(address) / BYTES_OF_UNIT);
      if (!server.spend(remoteHost, units)) return no(TOO_MANY_REQUESTS);
      return sourcesOf(contract, contract && verifier.store.readSources(address));
    }
    default:
      return no("Error! Missing Or invalid Action name");
  }
}

async function verify(verifier: Verifier, fields: Fields, remoteHost: string): Promise<EtherscanAnswer> {
  const address = decodeAddress(fields("contractaddress"));
  if (address === undefined) return no("Missing or invalid contractaddress");
  if (fields("codeformat") !== "solidity-standard-json-input")
    return no("Only the code format solidity-standard-json-input is verified here");
  const [, source = "", name = ""] =
    /^(.{1,256}):([A-Za-z_$][\w$]{0,127})$/.exec(fields("contractname") ?? "") ?? [];
  if (name === "") return no("Missing or invalid contractname: path/of/Source.sol:Name");
  const input = readStandardInput(fields("sourceCode") ?? "");
  if (!input.ok) return no(input.error.message);
  if (!Object.hasOwn(input.value.sources, source)) return no("The sources have no file of that name");
  const asked = await verifier.ask({
    remoteHost,
    address,
    compiler: fields("compilerversion") ?? "",
    input: input.value,
    source,
    name,
  });
  return "id" in asked ? yes(asked.id) : no(asked.problem);
}

function statusOf(outcome: Outcome | undefined): EtherscanAnswer {
  switch (outcome) {
    case undefined:
      return no("Unknown UID");
    case "pending":
      return no("Pending in queue");
    case "verified":
      return yes("Pass - Verified");
    case "known":
      return no("Already Verified");
    default:
      // Hardhat knows this text, and then sends all its sources.
      return "difference" in outcome
        ? { status: "0", message: `NOTOK: ${outcome.difference}`, result: "Fail - Unable to verify" }
        : no(`Fail - ${outcome.problem}`);
  }
}

function told(
  { abi, name, compiler, match }: VerifiedContract,
  action: "getabi" | "getcontract",
): EtherscanAnswer {
  return yes(action === "getabi" ? JSON.stringify(abi) : { abi, name, compiler, match });
}

function sourcesOf(
  contract: VerifiedContract | undefined,
  made: VerifiedSources | undefined,
): EtherscanAnswer {
  if (contract === undefined || made === undefined) return yes([{ ...EMPTY, ABI: NOT_VERIFIED }]);
  const { abi, name, compiler, match, source } = contract;
  return yes([
    {
      ...EMPTY,
      // Etherscan puts standard JSON into a second pair of braces.
      SourceCode: `{${JSON.stringify({ language: "Solidity", ...made })}}`,
      ABI: JSON.stringify(abi),
      ContractName: name,
      ContractFileName: source,
      CompilerVersion: compiler,
      CompilerType: "solc-j",
      Match: match,
    },
  ]);
}

const NOT_VERIFIED = "Contract source code not verified";
const EMPTY = {
  SourceCode: "",
  ContractName: "",
  CompilerVersion: "",
  ConstructorArguments: "",
  EVMVersion: "",
  Library: "",
  LicenseType: "",
  Proxy: "0",
  Implementation: "",
  SwarmSource: "",
};

function yes(result: unknown): EtherscanAnswer {
  return { status: "1", message: "OK", result };
}

function no(result: string): EtherscanAnswer {
  return { status: "0", message: "NOTOK", result };
}

function refuse(response: ServerResponse, result: string, status: number): void {
  respondJson(response, status, JSON.stringify(no(result)));
}

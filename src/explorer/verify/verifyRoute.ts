import type { IncomingMessage, ServerResponse } from "node:http";
import type { Address } from "../../primitives/address.ts";
import { decodeAddress } from "../../rpc/parameters/parameters.ts";
import { readBody } from "../../rpc/server/httpBody.ts";
import { respondJson } from "../../rpc/server/httpResponse.ts";
import type { HostRule } from "../../rpc/server/remoteHost.ts";
import type { VerifiedContract } from "./contractStore.ts";
import { readStandardInput } from "./standardInput.ts";
import type { Verifier } from "./verifier.ts";
import { REQUEST_BYTES, VERIFY_COST } from "./verifyLimits.ts";

interface VerifyServer {
  readonly verifier: Verifier;
  readonly hostOf: HostRule;
  /** Takes units from a visitor's budget; false when too few are left. */
  spend(remoteHost: string, units: number): boolean;
}

/** Answers Etherscan's module "contract": verifysourcecode, checkverifystatus, getsourcecode and getabi. */
export function answerVerification(
  server: VerifyServer,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const remoteHost = server.hostOf(request);
  const query = new URLSearchParams(request.url?.split("?")[1] ?? "");
  if (request.method !== "POST") {
    if (server.spend(remoteHost, READ_COST)) answerQuery(server.verifier, query, response);
    else refuse(response, "Too many requests. Try again later.", 429);
    return;
  }
  // The cost of a body is known only when it is read, so it is taken before.
  if (!server.spend(remoteHost, VERIFY_COST)) {
    refuse(response, "Too many requests. Try again later.", 429);
    return;
  }
  readBody(request, REQUEST_BYTES, (body) => {
    if (body === undefined) {
      refuse(response, `The request has more than ${REQUEST_BYTES / 1024 / 1024} MB.`, 413);
      return;
    }
    const form = formIn(body, request.headers["content-type"] ?? "");
    for (const [name, value] of query) if (!form.has(name)) form.set(name, value);
    if (form.get("action") !== "verifysourcecode") answerQuery(server.verifier, form, response);
    else void verify(server.verifier, form, remoteHost).then((answer) => respond(response, answer));
  });
}

/** Units of a read. */
const READ_COST = 5;

interface EtherscanAnswer {
  readonly status: "0" | "1";
  readonly message: string;
  readonly result: unknown;
}

/** Tools send a form, and some of them JSON. */
function formIn(body: string, type: string): URLSearchParams {
  if (!/^application\/json\b/i.test(type)) return new URLSearchParams(body);
  try {
    const parsed: unknown = JSON.parse(body);
    const entries = Object.entries(Object(parsed)).map(([name, value]) => [
      name,
      typeof value === "string" ? value : JSON.stringify(value),
    ]);
    return new URLSearchParams(entries);
  } catch {
    return new URLSearchParams();
  }
}

async function verify(
  verifier: Verifier,
  form: URLSearchParams,
  remoteHost: string,
): Promise<EtherscanAnswer> {
  const address = decodeAddress(form.get("contractaddress"));
  if (address === undefined) return no("Missing or invalid contractaddress");
  if (form.get("codeformat") !== "solidity-standard-json-input")
    return no("Only the code format solidity-standard-json-input is verified here");
  const [, source = "", name = ""] =
    /^(.{1,256}):([A-Za-z_$][\w$]{0,127})$/.exec(form.get("contractname") ?? "") ?? [];
  if (name === "") return no("Missing or invalid contractname: path/of/Source.sol:Name");
  const input = readStandardInput(form.get("sourceCode") ?? "");
  if (!input.ok) return no(input.error.message);
  if (!Object.hasOwn(input.value.sources, source)) return no("The sources have no file of that name");
  const asked = await verifier.ask({
    remoteHost,
    address,
    compiler: form.get("compilerversion") ?? "",
    input: input.value,
    source,
    name,
  });
  return "id" in asked ? yes(asked.id) : no(asked.problem);
}

function answerQuery(verifier: Verifier, query: URLSearchParams, response: ServerResponse): void {
  const address = decodeAddress(query.get("address"));
  switch (query.get("action")) {
    case "checkverifystatus":
      respond(response, statusOf(verifier, query.get("guid") ?? ""));
      return;
    case "getabi":
      respond(response, address === undefined ? no("Invalid Address format") : abiOf(verifier, address));
      return;
    case "getsourcecode":
      respond(response, address === undefined ? no("Invalid Address format") : sourcesOf(verifier, address));
      return;
    case "getcompilers":
      respond(response, yes(verifier.compilers()));
      return;
    default:
      respond(response, no("Error! Missing Or invalid Action name"));
  }
}

function statusOf(verifier: Verifier, id: string): EtherscanAnswer {
  const outcome = verifier.outcomeOf(id);
  if (outcome === undefined) return no("Unknown UID");
  if (outcome === "pending") return no("Pending in queue");
  if (outcome === "verified") return yes("Pass - Verified");
  return no(outcome.problem.startsWith("Fail") ? outcome.problem : `Fail - ${outcome.problem}`);
}

function abiOf(verifier: Verifier, address: Address): EtherscanAnswer {
  const contract = contractAt(verifier, address);
  return contract === undefined ? no(NOT_VERIFIED) : yes(JSON.stringify(contract.abi));
}

function sourcesOf(verifier: Verifier, address: Address): EtherscanAnswer {
  const contract = contractAt(verifier, address);
  if (contract === undefined) return yes([{ ...EMPTY, ABI: NOT_VERIFIED }]);
  const { abi, name, compiler, settings, sources, match, source } = contract;
  return yes([
    {
      ...EMPTY,
      // Etherscan puts standard JSON into a second pair of braces.
      SourceCode: `{${JSON.stringify({ language: "Solidity", sources, settings })}}`,
      ABI: JSON.stringify(abi),
      ContractName: name,
      ContractFileName: source,
      CompilerVersion: compiler,
      CompilerType: "solc-j",
      Match: match,
    },
  ]);
}

function contractAt(verifier: Verifier, address: Address): VerifiedContract | undefined {
  const text = verifier.store.read(address);
  return text === undefined ? undefined : (JSON.parse(text) as VerifiedContract);
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
  send(response, status, no(result));
}

function respond(response: ServerResponse, answer: EtherscanAnswer): void {
  send(response, 200, answer);
}

function send(response: ServerResponse, status: number, answer: EtherscanAnswer): void {
  response.setHeader("Cache-Control", "no-store");
  response.setHeader("X-Content-Type-Options", "nosniff");
  respondJson(response, status, JSON.stringify(answer));
}

import { compareSync } from "bcryptjs";
import { openWorkerPort, receiveMessages } from "../../workers/workerPort.ts";

/** A password to be compared with a hash of bcrypt. */
export interface PasswordJob {
  readonly password: string;
  readonly hash: string;
}

/*
 * The thread that checks passwords, one after another, for all callers: a check takes a tenth of a second or more, which no
 * thread that serves callers or makes blocks has.
 */
const port = openWorkerPort();

receiveMessages<PasswordJob>(port, ({ password, hash }) => port.postMessage(compareSync(password, hash)));

import { textType } from "../../config/valueTypes.ts";
import { EXIT } from "../exitCodes.ts";
import { refuse } from "../processIo.ts";
import { type Command, defineCommand } from "./command.ts";

export const PASSWORD_COMMANDS: readonly Command[] = [
  defineCommand({
    words: "password hash",
    help: "Print the hash of a password, for the file of --rpc-http-authentication-credentials-file.",
    options: {
      password: {
        type: textType({ label: "<PASSWORD>", accepts: "the password" }),
        isRequired: true,
        help: "Password of a user. Other users of this machine can read it while the command runs.",
      },
    },
    run: async ({ values, io }) => {
      const { genSalt, hash, truncates } = await import("bcryptjs");
      if (truncates(values.password))
        return refuse("The password has more than 72 bytes, of which bcrypt would ignore the rest.", io);
      const salt = await genSalt(ROUNDS);
      // Besu's letter for the same algorithm.
      io.print(`${await hash(values.password, salt.replace("$2b$", "$2a$"))}\n`);
      return EXIT.ok;
    },
  }),
];

/** Cost factor of bcrypt, as in Besu. */
const ROUNDS = 10;

'use strict';

// Every Node since 12 must be able to run this file and report what is missing (DECISIONS 90): no `node:` prefixes, no newer
// syntax.
const { spawn } = require('child_process');
const { existsSync, readFileSync } = require('fs');
const { constants } = require('os');
const { dirname, join, resolve } = require('path');
const { pathToFileURL } = require('url');

const projectRoot = dirname(__dirname);
const { engines, optionalDependencies = {} } = JSON.parse(
  readFileSync(join(projectRoot, 'package.json'), 'utf8'),
);
const neededVersion = engines.node.replace(/^>=\s*/, '');

/**
 * Runs a script of the project on a Node that is new enough: in this process if possible, otherwise on the
 * Node that `npm ci` installed. Older npm removes the link `node_modules/.bin/node`, so the program is found
 * by its own path.
 *
 * @param {string[]} args options of Node, the script's path from the root of the project, and the script's
 *   arguments
 */
function launch(args) {
  const scriptAt = args.findIndex((arg) => !arg.startsWith('-'));
  const nodeOptions = args.slice(0, scriptAt);
  const script = resolve(projectRoot, args[scriptAt]);
  const scriptArgs = args.slice(scriptAt + 1);
  if (!existsSync(script)) return fail(`${args[scriptAt]} is missing: ${describeInstallation()}.`);
  const isReady = nodeOptions.every((option) => process.execArgv.includes(option));
  if (isNewEnough(process.versions.node) && isReady) return runHere(script, scriptArgs);
  const node = isNewEnough(process.versions.node) ? process.execPath : findPackagedNode();
  if (node !== null) runOn(node, nodeOptions.concat(join(__dirname, 'run.cjs'), args.slice(scriptAt)));
}

/** @param {string} version such as `18.20.8` */
function isNewEnough(version) {
  const [actual, needed] = [version, neededVersion].map((text) => text.split('.').map(Number));
  const differs = needed.findIndex((part, index) => part !== actual[index]);
  return differs < 0 || actual[differs] > needed[differs];
}

/**
 * @returns {string | null} the path of the program; null when there is none, after the failure was printed
 */
function findPackagedNode() {
  const system = process.platform === 'win32' ? 'win' : process.platform;
  const name = `node-${system}-${process.arch}`;
  const path = join(projectRoot, 'node_modules', name, 'bin', system === 'win' ? 'node.exe' : 'node');
  if (existsSync(path) && isNewEnough(readVersion(name))) return path;
  const reason =
    name in optionalDependencies
      ? `the package ${name}, which contains it, is not installed: ${describeInstallation()}`
      : `npm has no package of Node for ${system} on ${process.arch}: install Node from https://nodejs.org`;
  fail(`${describeNeed()}, and ${reason}.`);
  return null;
}

function readVersion(name) {
  return JSON.parse(readFileSync(join(projectRoot, 'node_modules', name, 'package.json'), 'utf8')).version;
}

function describeNeed() {
  return `the relay needs Node ${neededVersion} or later, this is ${process.versions.node}`;
}

function describeInstallation() {
  return existsSync(join(projectRoot, 'node_modules'))
    ? 'run `npm ci` (without --omit) again'
    : 'run `npm ci` first';
}

/**
 * Passes signals on to the child. Either process ends with the other; exit code or signal are those of the
 * script.
 */
function runOn(node, args) {
  const child = spawn(node, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'])
    process.on(signal, () => child.kill(signal));
  watchNpm(() => child.kill('SIGTERM'));
  child.on('error', (error) => fail(describeSpawnFailure(node, error)));
  child.on('exit', (code, signal) => {
    if (code !== null) process.exit(code);
    process.removeAllListeners(signal);
    // The script's signal also ends this process. If it does not, the exit code is the one a shell would
    // report.
    process.kill(process.pid, signal);
    process.exitCode = 128 + constants.signals[signal];
  });
}

function describeSpawnFailure(node, { code, message }) {
  if (code === 'ENOENT' && process.platform === 'linux')
    return `${describeNeed()}, and the one that npm installed (${node}) needs glibc, which this system does not have (Alpine uses musl): install Node ${neededVersion} or later from the system's own packages.`;
  return `${describeNeed()}, and the one that npm installed cannot be started (${message}): run \`npm ci\` again.`;
}

function runHere(script, scriptArgs) {
  process.argv = [process.execPath, script].concat(scriptArgs);
  endWithParent();
  for (const stream of [process.stdout, process.stderr]) stream.on('error', judgeBrokenOutput);
  import(pathToFileURL(script).href).catch((error) => {
    if (isBrokenInstallation(error))
      return fail(`a package is missing or broken (${firstLine(error)}): run \`npm ci\` again.`);
    // An error of the project itself is thrown as usual.
    process.nextTick(() => {
      throw error;
    });
  });
}

/** If a parent process is killed, the script ends too, as if by `kill`. */
function endWithParent() {
  const end = () => process.kill(process.pid, 'SIGTERM');
  if (!process.connected) return watchNpm(end);
  process.on('disconnect', end);
  process.channel.unref();
}

const watchEveryMs = 500;

/** npm passes a signal only to its shell, and many shells end without passing it on. */
function watchNpm(onEnd) {
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    onEnd();
  }, watchEveryMs);
  watch.unref();
}

/**
 * A reader that stops early (`… | head`) is not an error. A command whose output is lost has failed. A script that goes on
 * without its output listens itself.
 */
function judgeBrokenOutput(error) {
  if (error.code !== 'EPIPE' && this.listenerCount('error') === 1) throw error;
}

const loadingFailures = [
  // From Node, when a package or one of its files is missing.
  /^Cannot find (package|module) '([^./]|.*node_modules)/,
  /^(Invalid package config|No "exports" main defined|Package subpath) .*node_modules/,
  // A package has another version than the one this project names.
  /^The requested module '[^./].*' does not provide an export/,
  // From esbuild, when the package with its program is missing.
  /needed by esbuild|esbuild for another platform/,
];

function isBrokenInstallation(error) {
  if (!(error instanceof Error)) return false;
  if (loadingFailures.some((pattern) => pattern.test(error.message))) return true;
  // npm writes this file last. If it is missing, the syntax error may come from an incomplete file of a
  // package.
  return error instanceof SyntaxError && !existsSync(join(projectRoot, 'node_modules', '.package-lock.json'));
}

function firstLine({ message }) {
  return message.split('\n')[0].replace(/ imported from .*/, '');
}

/** @param {string} sentence what is wrong and what to do */
function fail(sentence) {
  process.stderr.write(`error: ${sentence}\n`);
  process.exitCode = 1;
}

module.exports = { launch };

// Holds the ServiceMonitor of a JSON file against the types of Prometheus' operator, wherever the package lies.
import { readFileSync } from "node:fs";
import { ServiceMonitor } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor";

new ServiceMonitor(JSON.parse(readFileSync(process.argv[2], "utf8"))).validate();

{{/* What selects the pods of a process. Takes root and process. */}}
{{- define "gpu-rental.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .process }}
{{- end -}}

{{- define "gpu-rental.labels" -}}
{{ include "gpu-rental.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "gpu-rental.metadata" -}}
name: {{ .root.Release.Name }}-{{ .process }}
labels:
  {{- include "gpu-rental.labels" . | nindent 2 }}
{{- end -}}

{{- define "gpu-rental.image" -}}
{{- $image := .root.Values.image -}}
{{- $own := (get .root.Values .process).tag -}}
{{- if $own -}}
{{ $image.repository }}:{{ $own }}
{{- else if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default .root.Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* The variables of a process: its settings, its keys of the Secret, and what the chart knows by itself. */}}
{{- define "gpu-rental.env" -}}
{{- $own := get .root.Values .process -}}
{{- $secrets := get (.root.Files.Get "secrets.yaml" | fromYaml) .process -}}
{{- $known := dict -}}
{{- if eq .process "api" -}}
{{- $known = dict "API_HOST" "0.0.0.0" "API_PORT" "8080" -}}
{{- end -}}
{{- if eq .process "listener" -}}
{{- $known = dict "MACHINE_HOST" "0.0.0.0" "MACHINE_PORT" "8080" -}}
{{- end -}}
{{- if has .process (list "api" "worker" "listener") -}}
{{- $known = merge $known (dict "METRICS_HOST" "0.0.0.0" "METRICS_PORT" "9464") -}}
{{- end -}}
{{- if ne .process "worker" -}}
{{- $known = merge $known (dict "SMTP_URL" "smtp://mails-are-sent-by-the-worker.invalid") -}}
{{- end -}}
{{- if $own.temporalTlsSecret -}}
{{- $known = merge $known (dict "TEMPORAL_TLS_CLIENT_CERT_PATH" "/etc/gpu-rental/temporal/tls.crt" "TEMPORAL_TLS_CLIENT_KEY_PATH" "/etc/gpu-rental/temporal/tls.key" "TEMPORAL_TLS_SERVER_CA_CERT_PATH" "/etc/gpu-rental/temporal/ca.crt") -}}
{{- end -}}
{{- /* Temporal Cloud's certificate is signed by an authority that everybody knows: '' takes ours back. */}}
{{- $trusted := pick .root.Values.settings "TEMPORAL_TLS_SERVER_CA_CERT_PATH" -}}
{{- $env := dict -}}
{{- range $values := list .root.Values.settings $known $trusted $own.settings -}}
{{- range $name, $value := $values -}}{{- $_ := set $env $name $value -}}{{- end -}}
{{- end -}}
{{- range $name, $value := $env }}
- name: {{ $name }}
  value: {{ ternary (int64 $value) $value (kindIs "float64" $value) | quote }}
{{- end }}
{{- range concat $secrets.required $secrets.optional }}
- name: {{ . }}
  valueFrom:
    secretKeyRef:
      name: {{ $.root.Values.secretName }}
      key: {{ ternary (printf "%s_%s" (upper $.process) .) . (eq . "DATABASE_URL") }}
      {{- if has . $secrets.optional }}
      optional: true
      {{- end }}
{{- end }}
{{- end -}}

{{/* What the container of each process has. */}}
{{- define "gpu-rental.container" -}}
{{- $own := get .root.Values .process -}}
name: {{ .process }}
image: {{ include "gpu-rental.image" . }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
env:
  {{- include "gpu-rental.env" . | trim | nindent 2 }}
resources:
  {{- toYaml $own.resources | nindent 2 }}
volumeMounts:
  - name: tmp
    mountPath: /tmp
  {{- if .root.Values.caConfigMap }}
  - name: ca
    mountPath: /etc/gpu-rental/ca
    readOnly: true
  {{- end }}
  {{- if $own.temporalTlsSecret }}
  - name: temporal
    mountPath: /etc/gpu-rental/temporal
    readOnly: true
  {{- end }}
  {{- if $own.closedAccountsClaim }}
  - name: closed-accounts
    mountPath: /var/lib/gpu-rental
  {{- end }}
{{- end -}}

{{/* What the pod of each process has. */}}
{{- define "gpu-rental.pod" -}}
{{- $own := get .root.Values .process -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "gpu-rental.selector" . | nindent 8 }}
volumes:
  - name: tmp
    emptyDir: { sizeLimit: 256Mi }
  {{- with .root.Values.caConfigMap }}
  - name: ca
    configMap: { name: {{ . }} }
  {{- end }}
  {{- with $own.temporalTlsSecret }}
  - name: temporal
    secret:
      secretName: {{ . }}
      defaultMode: 0440
  {{- end }}
  {{- with $own.closedAccountsClaim }}
  - name: closed-accounts
    persistentVolumeClaim: { claimName: {{ . }} }
  {{- end }}
{{- end -}}

{{/* Nodes are emptied one pod at a time. */}}
{{- define "gpu-rental.budget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "gpu-rental.metadata" . | nindent 2 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "gpu-rental.selector" . | nindent 6 }}
{{- end -}}

{{/* The way of the outside to a process that answers HTTP. Takes root, process and ingress. */}}
{{- define "gpu-rental.ingress" -}}
{{- $of := . -}}
{{- with .ingress }}
{{- if .enabled }}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  {{- include "gpu-rental.metadata" $of | nindent 2 }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- with .className }}
  ingressClassName: {{ . }}
  {{- end }}
  {{- if .tlsSecret }}
  tls:
    - hosts: [{{ .host }}]
      secretName: {{ .tlsSecret }}
  {{- end }}
  rules:
    - host: {{ .host }}
      http:
        paths:
          - path: /
            pathType: Prefix
            backend:
              service:
                name: {{ $of.root.Release.Name }}-{{ $of.process }}
                port: { name: http }
{{- end }}
{{- end }}
{{- end -}}
